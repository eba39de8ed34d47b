//! Cuts a file into items, before anything is parsed.
