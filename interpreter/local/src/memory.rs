//! Buffers of ranks.

#![expect(
    unsafe_code,
    reason = "buffers are allocated zeroed, so that untouched pages cost nothing"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Bytes of one buffer, zero at first, aligned to a cache line. Pages that are never touched cost
/// nothing.
pub struct Bytes {
    first: NonNull<u8>,
    len: usize,
}

/// There is not as much memory as a buffer needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no memory for a buffer of {bytes} bytes")]
pub struct OutOfMemory {
    /// Bytes of the buffer.
    pub bytes: u64,
}

/// The size of a cache line.
const LINE: usize = 64;

impl Bytes {
    /// A buffer of `bytes` zeros.
    ///
    /// # Errors
    /// [`OutOfMemory`] when the system has none.
    pub fn zeroed(bytes: u64) -> Result<Self, OutOfMemory> {
        let none = OutOfMemory { bytes };
        let len = usize::try_from(bytes).map_err(|_| none)?;
        let layout = Layout::from_size_align(len, LINE).map_err(|_| none)?;
        if len == 0 {
            return Ok(Self {
                first: NonNull::<u64>::dangling().cast(),
                len,
            });
        }
        // SAFETY: the layout has a size above 0.
        let first = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(none)?;
        Ok(Self { first, len })
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if self.len > 0 {
            let layout = Layout::from_size_align(self.len, LINE)
                .expect("the layout that the buffer was allocated with");
            // SAFETY: allocated in `zeroed` with this layout, and not freed before.
            unsafe { dealloc(self.first.as_ptr(), layout) }
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` initialised bytes (zeros at first) that this value owns.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

// SAFETY: the bytes are owned and have no interior mutability.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_zero_and_writable() {
        let mut bytes = Bytes::zeroed(1000).unwrap();
        assert!(bytes.iter().all(|&b| b == 0));
        assert_eq!(bytes.as_ptr() as usize % LINE, 0);
        bytes[999] = 7;
        assert_eq!(bytes[999], 7);
        assert!(Bytes::zeroed(0).unwrap().is_empty());
        let none = Bytes::zeroed(u64::MAX).err();
        assert_eq!(none, Some(OutOfMemory { bytes: u64::MAX }));
    }
}
