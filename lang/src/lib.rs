//! From the source of a coll library to its checked form.
//!
//! [`parse`] makes syntax trees of files and never fails; [`resolve`] finds libraries and names;
//! [`check`] and [`contract`] prove what can be proved before data moves; [`library::Library`] is the
//! result. [`diagnostics`] is how all of them speak.

pub mod check;
pub mod contract;
pub mod diagnostics;
pub mod library;
pub mod nearest;
pub mod parse;
pub mod resolve;
pub mod source;
pub mod syntax;

pub use coll_grammar::{number, words};
