//! The executor as a whole.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod common;
mod emission;
mod errors;
mod ownership;
