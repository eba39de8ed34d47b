//! The surface syntax of the `coll` language.
//!
//! Nothing outside this crate knows how a construct is spelled: [`Parser`] and [`Rule`] come from
//! `coll.pest`, [`words`] holds the closed vocabularies (operations, engines, types, …), [`number`]
//! reads literals with units, and [`split`] cuts a file into items before anything is parsed.

pub mod number;
mod scan;
pub mod split;
mod splitter;
pub mod words;

mod generated {
    #![allow(missing_docs)]
    /// The pest parser of `coll.pest`; its rules work on the text of one item.
    #[derive(pest_derive::Parser)]
    #[grammar = "coll.pest"]
    pub struct Parser;
}

pub use generated::{Parser, Rule};
