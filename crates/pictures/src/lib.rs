//! Pictures that strangers have made: what their parts declare about their size before anything is decoded, and the scaling of what was.
//!
//! How many pixels are too many is decided by the callers, who decode: renderings of Storage, the import of products, and the checks of
//! the generator. Scaling is here and not with the renderings because this crate is optimised in every build: the instructions for
//! it are inlined where it is called.

mod declared_sizes;
mod error;
mod scale;

pub use declared_sizes::find_largest_part;
pub use error::ContradictorySizes;
pub use scale::{CannotScale, Part, scale_part};
