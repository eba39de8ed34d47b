//! From text to syntax trees, with recovery.
