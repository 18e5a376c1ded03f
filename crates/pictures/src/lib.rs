//! Pictures that strangers have made: what their parts declare about their size before anything is decoded, their decoding, scaling and
//! encoding.
//!
//! How many pixels are too many is decided by the callers: renderings of Storage, the import of products, and the checks of the
//! generator. All work on pixels is here and not with them because this crate is optimised in every build, and because decoders and
//! encoders are compiled in each crate that names them.

mod declared_sizes;
mod decode;
mod encode;
mod error;
mod scale;

pub use declared_sizes::find_largest_part;
pub use decode::{OpenedPicture, decode_frames, decode_picture, is_animated_webp, open_picture};
pub use encode::{encode_jpeg, encode_png};
pub use error::ContradictorySizes;
pub use scale::{CannotScale, Part, scale_part};
