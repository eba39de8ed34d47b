//! Files are UTF-8.

use crate::diagnostics::{Code, codes};

/// Why bytes are no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {byte:#04x} at line {line}, column {column} is no UTF-8")]
pub struct NotUtf8 {
    /// The first byte that belongs to no character.
    pub byte: u8,
    /// Its place in the file.
    pub offset: usize,
    /// Its line, from 1.
    pub line: u32,
    /// Its column in characters, from 1.
    pub column: u32,
}

impl NotUtf8 {
    /// The code of a diagnostic that says so.
    pub const CODE: Code = codes::E0103;
}

/// The text of a file.
///
/// # Errors
/// [`NotUtf8`] with the place of the first byte that belongs to no character.
pub fn decode(bytes: Vec<u8>) -> Result<String, NotUtf8> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let valid = &bytes[..offset];
        let line_start = valid.iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1);
        let starts_character = |b: &&u8| **b & 0xC0 != 0x80;
        NotUtf8 {
            byte: bytes.get(offset).copied().unwrap_or(0),
            offset,
            line: valid.iter().filter(|&&b| b == b'\n').count() as u32 + 1,
            column: valid[line_start..].iter().filter(starts_character).count() as u32 + 1,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_byte_is_found() {
        assert_eq!(decode("é\n".into()), Ok("é\n".to_owned()));
        let bad = decode(b"use a;\n// \xC3\xA9\xFF".to_vec()).unwrap_err();
        assert_eq!(
            (bad.line, bad.column, bad.byte, bad.offset),
            (2, 5, 0xFF, 12)
        );
        let cut = decode(b"\xC3".to_vec()).unwrap_err();
        assert_eq!((cut.line, cut.column, cut.byte), (1, 1, 0xC3));
    }
}
