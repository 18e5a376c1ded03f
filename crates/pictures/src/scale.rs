//! The scaling of pixels.

use fast_image_resize::pixels::{U8x3, U8x4};
use fast_image_resize::{
    FilterType, IntoImageView as _, IntoImageViewMut as _, PixelTrait, ResizeAlg, ResizeOptions, Resizer,
};
use image::{ColorType, DynamicImage};

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

/// The pixels of a picture are not of eight bits per channel and in colours, or the part is not inside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the picture cannot be scaled")]
pub struct CannotScale;

/// Cuts a part out of an [`ImageRgb8`](DynamicImage::ImageRgb8) or [`ImageRgba8`](DynamicImage::ImageRgba8) and gives it another size, with
/// the filter of the original's renderer (Lanczos, three lobes). `size` is width and height in pixels; the room for them is the caller's to
/// decide.
///
/// # Errors
/// For other formats of pixels, or a part that is not inside of the picture.
pub fn scale_part(image: &DynamicImage, part: Part, size: (u32, u32)) -> Result<DynamicImage, CannotScale> {
    // `Resizer::resize` would be compiled for all thirteen formats of pixels, for a minute and a half.
    let scale = match image.color() {
        ColorType::Rgb8 => scale_pixels::<U8x3>,
        ColorType::Rgba8 => scale_pixels::<U8x4>,
        _ => return Err(CannotScale),
    };
    let mut scaled = DynamicImage::new(size.0, size.1, image.color());
    let options = ResizeOptions::new()
        .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
        .crop(part.left, part.top, part.width, part.height);
    scale(image, &mut scaled, &options)?;
    Ok(scaled)
}

fn scale_pixels<P: PixelTrait>(
    from: &DynamicImage,
    to: &mut DynamicImage,
    options: &ResizeOptions,
) -> Result<(), CannotScale> {
    let (Some(from), Some(mut to)) = (from.image_view::<P>(), to.image_view_mut::<P>()) else {
        return Err(CannotScale);
    };
    Resizer::new()
        .resize_typed(&from, &mut to, options)
        .map_err(|_| CannotScale)
}
