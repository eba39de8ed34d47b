//! The parts of a code's page: a title, prose, and a wrong and a right example.

/// A page.
pub(crate) struct Page<'a> {
    /// The first line.
    pub(crate) title: &'a str,
    /// What stands above the examples.
    pub(crate) prose: &'a str,
    /// The section `Wrong`.
    pub(crate) wrong: Section<'a>,
    /// The section `Right`.
    pub(crate) right: Section<'a>,
}

/// One of the two examples.
pub(crate) struct Section<'a> {
    /// Its fenced blocks in order.
    pub(crate) blocks: Vec<Block<'a>>,
}

/// A fenced block.
pub(crate) struct Block<'a> {
    /// The first word behind the fence: `coll`, `toml`, `text` or `console`.
    pub(crate) kind: &'a str,
    /// What follows `path=`.
    pub(crate) path: Option<&'a str>,
    /// Its lines.
    pub(crate) text: &'a str,
}

impl<'a> Page<'a> {
    /// Reads a page.
    pub(crate) fn parse(text: &'a str) -> Result<Self, String> {
        let (title, rest) = text.split_once("\n\n").ok_or("there is only a title")?;
        let (prose, rest) = rest
            .split_once("\n## Wrong\n")
            .ok_or("there is no section `Wrong`")?;
        let (wrong, right) = rest
            .split_once("\n## Right\n")
            .ok_or("there is no section `Right`")?;
        Ok(Self {
            title,
            prose,
            wrong: Section::parse(wrong)?,
            right: Section::parse(right)?,
        })
    }

    /// Both sections, the wrong one first.
    pub(crate) fn sections(&self) -> [&Section<'a>; 2] {
        [&self.wrong, &self.right]
    }
}

impl<'a> Section<'a> {
    fn parse(text: &'a str) -> Result<Self, String> {
        let mut blocks = Vec::new();
        let mut rest = text;
        while let Some((_, fenced)) = rest.split_once("\n```") {
            let (info, body) = fenced.split_once('\n').ok_or("a fence ends the page")?;
            let end = match body.starts_with("```") {
                true => 0,
                false => body.find("\n```\n").ok_or("a block is not closed")? + 1,
            };
            let (kind, options) = info.split_once(' ').unwrap_or((info, ""));
            blocks.push(Block {
                kind,
                path: options.strip_prefix("path="),
                text: &body[..end],
            });
            rest = &body[end + "```".len()..];
        }
        match text.trim().is_empty() {
            true => Err("a section is empty".to_owned()),
            false => Ok(Self { blocks }),
        }
    }

    /// Path and text of its files; a block without a path is the whole of `example.coll`.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'a str, &'a str)> + '_ {
        let files = self.blocks.iter().filter(|b| b.kind != "console");
        files.map(|b| (b.path.unwrap_or("example.coll"), b.text))
    }

    /// Its transcripts of commands.
    pub(crate) fn transcripts(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.blocks
            .iter()
            .filter(|b| b.kind == "console")
            .map(|b| b.text)
    }
}
