//! Libraries, modules and names.
