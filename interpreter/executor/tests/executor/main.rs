//! The executor as a whole.

mod common;
mod emission;
mod errors;
mod ownership;
