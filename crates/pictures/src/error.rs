//! Why the sizes in a picture cannot be believed.

/// Parts of a picture contradict each other about its size, or are cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the parts of the picture contradict each other about its size, or are cut off")]
pub struct ContradictorySizes;
