//! The scaling of pixels.

use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};
use image::DynamicImage;

/// A rectangle of a picture, in its pixels, which may begin between two of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Pixels from the left edge.
    pub left: f64,
    /// Pixels from the top edge.
    pub top: f64,
    /// Pixels across.
    pub width: f64,
    /// Pixels from top to bottom.
    pub height: f64,
}

/// The pixels of a picture have a format that cannot be scaled, or the part is not inside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the picture cannot be scaled")]
pub struct CannotScale;

/// Cuts a part out and gives it another size, with the filter of the original's renderer (Lanczos, three lobes). `size` is width and
/// height in pixels; the room for them is the caller's to decide.
///
/// # Errors
/// For a format of pixels that cannot be scaled, or a part that is not inside of the picture.
pub fn scale_part(image: &DynamicImage, part: Part, size: (u32, u32)) -> Result<DynamicImage, CannotScale> {
    let mut scaled = DynamicImage::new(size.0, size.1, image.color());
    let options = ResizeOptions::new()
        .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
        .crop(part.left, part.top, part.width, part.height);
    Resizer::new()
        .resize(image, &mut scaled, &options)
        .map_err(|_| CannotScale)?;
    Ok(scaled)
}
