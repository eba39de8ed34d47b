//! The stable codes. A code is never reused; its page is `codes/CODE.md`.

use super::Severity;
use std::fmt;

/// The code of a diagnostic.
#[derive(Clone, Copy)]
pub struct Code(&'static CodeInfo);

struct CodeInfo {
    id: &'static str,
    name: &'static str,
    title: &'static str,
}

impl Code {
    /// `E0301`.
    pub const fn id(self) -> &'static str {
        self.0.id
    }

    /// A word for the code: `unknown-name`. Accepted wherever the code is.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// One line on what the code means.
    pub const fn title(self) -> &'static str {
        self.0.title
    }

    /// `E` codes are errors, `W` codes warnings.
    pub const fn severity(self) -> Severity {
        if self.0.id.as_bytes()[0] == b'W' {
            Severity::Warning
        } else {
            Severity::Error
        }
    }

    /// The code with this id or name, case aside.
    pub fn find(text: &str) -> Option<Self> {
        ALL.iter()
            .copied()
            .find(|c| c.id().eq_ignore_ascii_case(text) || c.name().eq_ignore_ascii_case(text))
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Code {}

impl std::hash::Hash for Code {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Code {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id().cmp(other.id())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

macro_rules! codes {
    ($($id:ident $name:literal $title:literal;)+) => {
        $(
            #[doc = $title]
            pub const $id: Code =
                Code(&CodeInfo { id: stringify!($id), name: $name, title: $title });
        )+

        /// Every code, in order.
        pub const ALL: &[Code] = &[$($id),+];
    };
}

codes! {
    // E01: syntax
    E0101 "syntax" "the text does not follow the grammar";
    E0102 "file-too-large" "a file is larger than the language allows";
    E0103 "not-utf8" "a file is not UTF-8";
    E0104 "control-character" "a file holds a NUL byte, a lone carriage return or another control character";
    E0105 "too-deep" "brackets, trees or comments are nested too deeply";
    E0106 "bad-number" "a number does not fit or has an unknown unit";
    E0107 "unclosed" "a comment, string or brace is not closed";
    E0108 "reserved-word" "a reserved word is used as a name";
    E0109 "stray-docs" "a documentation comment belongs to nothing";
    E0110 "bad-escape" "a string holds an unknown escape";
    // E02: names and libraries
    E0201 "unknown-name" "a name is not declared or not imported";
    E0202 "duplicate" "a name is declared twice";
    E0203 "wrong-kind" "a name stands for something else than what is needed here";
    E0204 "unknown-import" "an import names nothing";
    E0205 "private" "a private item is used outside its file";
    E0206 "ambiguous" "a name could mean several things";
    E0207 "cycle" "a definition depends on itself";
    E0208 "bad-manifest" "a coll.toml is not as it must be";
    E0209 "missing-library" "a library that is required cannot be found";
    E0210 "duplicate-library" "two libraries have the same name";
    E0211 "unreadable" "a file or folder cannot be read";
    E0212 "shadowed" "a declaration or import hides another";
    E0213 "bad-arguments" "a call has the wrong arguments";
    // E03: ownership
    E0301 "needs-state" "a stage finds the data in another state than it needs";
    E0302 "many-groups" "a stage takes one group and finds several";
    E0303 "gathered-twice" "a dimension is gathered that is gathered already";
    E0304 "never-gathered" "a dimension is left that the operation must gather";
    E0305 "gathered-partial" "a dimension is gathered while contributions are missing";
    E0306 "reduced-twice" "a dimension is reduced that is reduced already";
    E0307 "reduced-after-gather" "a dimension is reduced after it was gathered";
    E0308 "wrong-end" "a dimension ends in another state than the operation promises";
    E0309 "groups-at-end" "an algorithm ends with more than one group";
    E0310 "deal" "a parallel gets several groups but another number of children";
    E0311 "assertion" "an assertion does not hold";
    E0312 "no-children" "a node has no children";
    E0313 "axes" "an omnipipe does not have exactly two axes";
    E0314 "axes-overlap" "the axes of an omnipipe share a dimension";
    E0315 "axes-differ" "the axes of an omnipipe have different operations";
    E0316 "stage-operation" "an operation cannot be a stage of this algorithm";
    E0317 "only-in-sequence" "a loop or an assertion stands outside a sequence";
    // E04: topologies, levels, matching
    E0401 "unknown-level" "a level does not exist in the topology";
    E0402 "uncovered" "a dimension of the cluster is joined by no level";
    E0403 "mismatch" "a topology does not match a cluster";
    E0404 "uneven" "an uneven layer is used where every group must have the same size";
    E0405 "duplicate-level" "a level is declared twice";
    E0406 "gcd-and-plain" "a layer is named both plainly and in gcd";
    E0407 "bad-level" "a level's form is not as it must be";
    E0408 "unknown-plane" "a plane does not exist in the cluster";
    E0409 "requirement" "a requirement does not hold";
    E0410 "no-topology" "an algorithm with a tree names no topology";
    E0411 "no-engine" "an algorithm names no engine";
    E0412 "no-tree" "an algorithm has no tree";
    // E05: weights and cutting
    E0501 "weights-of-dealt" "weights on a parallel whose groups are dealt out";
    E0502 "weight-count" "some children have a weight and others do not";
    E0503 "bad-weight" "a weight is negative, or all are zero";
    E0504 "weight-unit" "a weight has a unit that does not fit";
    E0505 "arithmetic" "a constant expression cannot be computed";
    E0506 "type" "an expression has the wrong type";
    // E06: selection
    E0601 "unknown-fact" "a fact does not exist";
    E0602 "ambiguous-bytes" "bytes could mean three things";
    E0603 "fact-of-operation" "an operation does not have this fact";
    E0604 "unknown-word" "a word is not one of those that can stand here";
    // E08: templates
    E0801 "template-operation" "a template does not plan this operation";
    E0802 "no-native-planner" "an extern template has no planner";
    // E09: clusters and imported files
    E0901 "bad-cluster" "a cluster is not as it must be";
    E0902 "bad-shape" "a shape is not as it must be";
    // E10: plans and limits
    E1001 "buffer-too-small" "the CCL buffer cannot hold one element of every slot";
    E1002 "bad-request" "a request does not fit the operation or the cluster";
    E1003 "too-large" "sizes exceed what can be addressed";
    E1004 "deadlock" "ranks wait for one another";
    // W: lints
    W0201 "unused-import" "an import is never used";
    W0202 "unused-private" "a private item is never used";
    W0203 "hides-prelude" "a template hides one that is in scope everywhere";
    W0301 "more-than-asked" "an algorithm holds more at its end than its operation asks for";
    W0302 "one-child" "a parallel or omnipipe has one child";
    W0501 "unbalanced-remainder" "the remainder of an equal cut goes to one child";
}
