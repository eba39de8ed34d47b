//! The local engine as a whole.

#[path = "../../../executor/tests/executor/common.rs"]
mod common;

mod exact;
mod machine;
mod templates;
