//! `coll.toml`: what a library is called and what it needs.

use crate::diagnostics::{Diagnostic, codes};
use crate::nearest::{listed, nearest};
use crate::source::{ItemId, Place, Span};
use semver::{Version, VersionReq};
use smol_str::SmolStr;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The name of the file.
pub const MANIFEST: &str = "coll.toml";

/// Editions of the language that this program reads.
pub const EDITIONS: &[&str] = &["2026"];

const KEYS: &[&str] = &["name", "version", "edition", "requires"];

/// A read manifest.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The library's name, with which all names of its modules begin.
    pub name: SmolStr,
    /// The library's version.
    pub version: Version,
    /// The libraries it needs, in order of their names.
    pub requires: Vec<Requirement>,
}

/// A library that another needs.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Its name.
    pub name: SmolStr,
    /// The versions that will do: `"1.2"` means 1.2 or any later one that is compatible.
    pub versions: VersionReq,
    /// Where the version stands.
    pub place: Place,
}

/// Reads the manifest whose text is the item `item`. What can be read is returned along with what is
/// wrong; `fallback` stands in for a missing name.
pub fn parse_manifest(text: &str, item: ItemId, fallback: &str) -> (Manifest, Vec<Diagnostic>) {
    let mut reader = Reader {
        item,
        diagnostics: Vec::new(),
    };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        reader.report(error.span().unwrap_or(0..0), error.message());
    }
    let manifest = reader.manifest(&table, fallback);
    (manifest, reader.diagnostics)
}

/// Whether `text` can name a library in source text.
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

type Value<'a, 'i> = &'a Spanned<DeValue<'i>>;

struct Reader {
    item: ItemId,
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
    fn place(&self, range: Range<usize>) -> Place {
        Place {
            item: self.item,
            span: Span::new(range.start as u32, range.end as u32),
        }
    }

    fn report(&mut self, range: Range<usize>, message: impl Into<String>) -> &mut Diagnostic {
        let place = self.place(range);
        self.diagnostics
            .push(Diagnostic::new(codes::E0208, place, message));
        self.diagnostics.last_mut().expect("just pushed")
    }

    fn manifest(&mut self, table: &Spanned<DeTable<'_>>, fallback: &str) -> Manifest {
        let broken = !self.diagnostics.is_empty();
        let mut manifest = Manifest {
            name: fallback.into(),
            version: Version::new(0, 0, 0),
            requires: Vec::new(),
        };
        let mut seen = Vec::new();
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let name = key.get_ref().as_ref();
            seen.push(name.to_owned());
            match name {
                "name" => self.name(value, &mut manifest),
                "version" => self.version(value, &mut manifest),
                "edition" => self.edition(value),
                "requires" => self.requires(value, &mut manifest),
                _ => self.unknown_key(name, key.span()),
            }
        }
        for required in ["name", "version"] {
            if !broken && !seen.iter().any(|s| s == required) {
                let example = match required {
                    "name" => format!("name = \"{fallback}\""),
                    _ => "version = \"0.1.0\"".to_owned(),
                };
                self.report(0..0, format!("the manifest has no `{required}`"))
                    .help = Some(format!("add `{example}`"));
            }
        }
        manifest
    }

    fn unknown_key(&mut self, name: &str, span: Range<usize>) {
        let near = nearest(name, KEYS.iter().copied());
        let place = self.place(span.clone());
        let diagnostic = self.report(span, format!("a manifest has no key `{name}`"));
        match near {
            Some(near) => {
                diagnostic.help = Some(format!("did you mean `{near}`?"));
                *diagnostic =
                    diagnostic
                        .clone()
                        .suggest(format!("replace with `{near}`"), place, near);
            }
            None => diagnostic.help = Some(format!("its keys are {}", listed(KEYS))),
        }
    }

    fn text<'a>(&mut self, key: &str, value: Value<'a, '_>) -> Option<&'a str> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.report(value.span(), format!("`{key}` must be a string"));
        }
        text
    }

    fn name(&mut self, value: Value<'_, '_>, manifest: &mut Manifest) {
        let Some(name) = self.text("name", value) else {
            return;
        };
        if coll_grammar::words::RESERVED.contains(&name) {
            self.report(
                value.span(),
                format!("`{name}` is a reserved word and cannot name a library"),
            );
        } else if is_identifier(name) {
            manifest.name = name.into();
        } else {
            self.report(value.span(), format!("`{name}` cannot name a library"))
                .help = Some(
                "a name is made of letters, digits and `_`, and does not begin with a digit"
                    .to_owned(),
            );
        }
    }

    fn version(&mut self, value: Value<'_, '_>, manifest: &mut Manifest) {
        let Some(text) = self.text("version", value) else {
            return;
        };
        match Version::parse(text) {
            Ok(version) => manifest.version = version,
            Err(error) => {
                self.report(value.span(), format!("`{text}` is no version: {error}"))
                    .help = Some("a version has three numbers, such as `1.4.0`".to_owned());
            }
        }
    }

    fn edition(&mut self, value: Value<'_, '_>) {
        let Some(text) = self.text("edition", value) else {
            return;
        };
        if !EDITIONS.contains(&text) {
            self.report(value.span(), format!("there is no edition `{text}`"))
                .help = Some(format!("editions: {}", listed(EDITIONS)));
        }
    }

    fn requires(&mut self, value: Value<'_, '_>, manifest: &mut Manifest) {
        let DeValue::Table(table) = value.get_ref() else {
            self.report(value.span(), "`requires` must be a table").help =
                Some("write `requires = { std = \"0.1\" }`".to_owned());
            return;
        };
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by(|a, b| a.0.get_ref().cmp(b.0.get_ref()));
        for (key, value) in entries {
            let name = key.get_ref().as_ref();
            let Some(text) = self.text(name, value) else {
                continue;
            };
            match VersionReq::parse(text) {
                Ok(versions) => manifest.requires.push(Requirement {
                    name: name.into(),
                    versions,
                    place: self.place(value.span()),
                }),
                Err(error) => {
                    self.report(
                        value.span(),
                        format!("`{text}` asks for no version: {error}"),
                    )
                    .help = Some("write the least version that will do, such as `1.4`".to_owned());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (Manifest, Vec<String>) {
        let (manifest, diagnostics) = parse_manifest(text, ItemId(0), "fallback");
        let messages = diagnostics
            .into_iter()
            .map(|d| format!("{} | {}", d.message, d.help.unwrap_or_default()))
            .collect();
        (manifest, messages)
    }

    #[test]
    fn a_whole_manifest_is_read() {
        let (manifest, messages) = read(
            "name = \"mine\"\nversion = \"1.2.3\"\nedition = \"2026\"\n\
             requires = { std = \"0.1\", extra = \"2\" }\n",
        );
        assert_eq!(messages, Vec::<String>::new());
        assert_eq!(
            (manifest.name.as_str(), manifest.version),
            ("mine", Version::new(1, 2, 3))
        );
        let names: Vec<&str> = manifest.requires.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["extra", "std"]);
        assert!(
            manifest.requires[1]
                .versions
                .matches(&Version::new(0, 1, 9))
        );
        assert!(
            !manifest.requires[1]
                .versions
                .matches(&Version::new(0, 2, 0))
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(name|version|requires|=|\"|\\{|\\}|\\[|std|1|\\.|,|\n| |é){0,24}") {
            let (_, diagnostics) = parse_manifest(&text, ItemId(0), "fallback");
            for diagnostic in diagnostics {
                prop_assert!(text.get(diagnostic.primary.place.span.range()).is_some());
            }
        }
    }

    #[test]
    fn every_fault_is_named() {
        for (text, expected) in [
            (
                "version = \"1.0.0\"",
                "the manifest has no `name` | add `name = \"fallback\"`",
            ),
            (
                "nmae = \"a\"\nname = \"a\"\nversion = \"1.0.0\"",
                "no key `nmae` | did you mean `name`?",
            ),
            (
                "name = \"a b\"\nversion = \"1.0.0\"",
                "`a b` cannot name a library",
            ),
            ("name = \"tree\"\nversion = \"1.0.0\"", "is a reserved word"),
            ("name = 3\nversion = \"1.0.0\"", "`name` must be a string"),
            ("name = \"a\"\nversion = \"1.0\"", "`1.0` is no version"),
            (
                "name = \"a\"\nversion = \"1.0.0\"\nedition = \"2015\"",
                "no edition `2015` | editions: 2026",
            ),
            (
                "name = \"a\"\nversion = \"1.0.0\"\nrequires = [\"std\"]",
                "`requires` must be a table",
            ),
            (
                "name = \"a\"\nversion = \"1.0.0\"\nrequires = { std = \"new\" }",
                "`new` asks for no version",
            ),
        ] {
            let (_, messages) = read(text);
            assert_eq!(messages.len(), 1, "{text}: {messages:?}");
            assert!(messages[0].contains(expected), "{text}: {messages:?}");
        }
        assert!(!read("name = ").1.is_empty());
    }
}
