//! What the parts of a picture declare about their size, before anything is decoded.
//!
//! In: the bytes of a picture that a stranger has made, and its format. Out: the pixels that a decoder makes room for at a time. How many
//! are too many is decided by the callers, who decode: renderings of Storage, the import of products, and the checks of the generator.

mod declared_sizes;
mod error;

pub use declared_sizes::find_largest_part;
pub use error::ContradictorySizes;
