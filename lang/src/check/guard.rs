//! Guards: typed conditions over facts that are equal on all ranks.

/// A checked condition or value over facts.
#[derive(Clone, Debug)]
pub struct Guard {}
