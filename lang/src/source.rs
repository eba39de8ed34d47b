//! Source files and places in them.
//!
//! Every span inside an item counts from the item's first byte, so an item that did not change keeps
//! its spans when text above it does. [`Place`] adds the item; [`SourceMap`] knows where items are.

use smol_str::SmolStr;
use std::path::PathBuf;
use std::sync::Arc;

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// An item of some file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId(pub u32);

/// Bytes `start..end` of an item's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of bytes `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The least span that covers both.
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The bytes as a range of `usize`.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A span of some item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The item.
    pub item: ItemId,
    /// The bytes in it.
    pub span: Span,
}

/// One source file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name to show: the path as the user gave it, or `std/topology.coll`.
    pub name: SmolStr,
    /// Where it lies on disk; none for embedded and in-memory files.
    pub path: Option<PathBuf>,
    /// The text.
    pub text: Arc<str>,
    /// Byte offset of the first byte of each line.
    line_starts: Vec<u32>,
}

/// A position for people: both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line.
    pub line: u32,
    /// Column in characters.
    pub column: u32,
}

impl SourceFile {
    fn new(name: SmolStr, path: Option<PathBuf>, text: Arc<str>) -> Self {
        let line_starts = std::iter::once(0)
            .chain(
                text.bytes()
                    .enumerate()
                    .filter(|&(_, b)| b == b'\n')
                    .map(|(i, _)| i as u32 + 1),
            )
            .collect();
        Self {
            name,
            path,
            text,
            line_starts,
        }
    }

    /// Byte offsets at which lines begin.
    pub fn line_starts(&self) -> &[u32] {
        &self.line_starts
    }

    /// The index, from 0, of the line that holds byte `offset`.
    pub fn line_index(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|&start| start <= offset) - 1
    }

    /// Line and column of byte `offset`; offsets past the end give the end.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let offset = (offset as usize).min(self.text.len());
        let line = self.line_index(offset as u32);
        let start = self.line_starts[line] as usize;
        let before = self.text.as_bytes()[start..offset]
            .iter()
            .filter(|&&b| b & 0xC0 != 0x80);
        LineColumn {
            line: line as u32 + 1,
            column: before.count() as u32 + 1,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct ItemSlot {
    file: FileId,
    offset: u32,
}

/// All files of a session and the places of their items.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    items: Vec<ItemSlot>,
}

impl SourceMap {
    /// Adds a file. Its whole text is one item too, for messages that concern no other: see
    /// [`SourceMap::whole_file`].
    pub fn add_file(&mut self, name: SmolStr, path: Option<PathBuf>, text: Arc<str>) -> FileId {
        let id = FileId(self.files.len() as u32);
        self.files.push(SourceFile::new(name, path, text));
        id
    }

    /// Registers the item that begins at byte `offset` of `file`.
    pub fn add_item(&mut self, file: FileId, offset: u32) -> ItemId {
        let id = ItemId(self.items.len() as u32);
        self.items.push(ItemSlot { file, offset });
        id
    }

    /// The file with number `id`.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files in the order they were added.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(i, f)| (FileId(i as u32), f))
    }

    /// The file that holds an item.
    pub fn file_of(&self, item: ItemId) -> FileId {
        self.items[item.0 as usize].file
    }

    /// The file and byte range of a place.
    pub fn locate(&self, place: Place) -> (FileId, Span) {
        let slot = self.items[place.item.0 as usize];
        (
            slot.file,
            Span::new(slot.offset + place.span.start, slot.offset + place.span.end),
        )
    }

    /// File, line and column where a place begins, for messages.
    pub fn position(&self, place: Place) -> (&SourceFile, LineColumn) {
        let (file, span) = self.locate(place);
        let file = self.file(file);
        (file, file.line_column(span.start))
    }

    /// The source text of a place.
    pub fn text(&self, place: Place) -> &str {
        let (file, span) = self.locate(place);
        &self.file(file).text[span.range()]
    }
}
