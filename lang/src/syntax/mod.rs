//! The syntax tree and its printer.

pub mod ast;
pub mod print;
