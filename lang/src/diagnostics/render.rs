//! The renderings of a diagnostic.
