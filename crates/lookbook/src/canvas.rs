//! Pixels: decoding, placing and encoding pictures.

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{ImageResult, Rgb, RgbImage, RgbaImage};

const JPEG_QUALITY: u8 = 88;

/// The paper of the site.
pub(crate) const PAPER: Rgb<u8> = Rgb([243, 237, 228]);
pub(crate) const INK: Rgb<u8> = Rgb([33, 28, 24]);
pub(crate) const SOFT_INK: Rgb<u8> = Rgb([104, 94, 84]);

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Decodes a picture.
pub(crate) fn decode(bytes: &[u8]) -> ImageResult<RgbaImage> {
    Ok(image::load_from_memory(bytes)?.to_rgba8())
}

/// Lays a color over a pixel. Places outside of the canvas are left out.
pub(crate) fn blend(canvas: &mut RgbImage, (x, y): (i64, i64), color: Rgb<u8>, alpha: u8) {
    let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else {
        return;
    };
    let Some(pixel) = canvas.get_pixel_mut_checked(x, y) else {
        return;
    };
    let alpha = u32::from(alpha);
    for (under, over) in pixel.0.iter_mut().zip(color.0) {
        let mixed = u32::from(*under) * (255 - alpha) + u32::from(over) * alpha;
        // At most 255, as both are.
        *under = (mixed / 255) as u8;
    }
}

/// Lays a picture onto the canvas with its upper left corner at this place.
pub(crate) fn lay(canvas: &mut RgbImage, picture: &RgbaImage, (left, top): (u32, u32)) {
    for (x, y, pixel) in picture.enumerate_pixels() {
        let [red, green, blue, alpha] = pixel.0;
        let place = (i64::from(left) + i64::from(x), i64::from(top) + i64::from(y));
        blend(canvas, place, Rgb([red, green, blue]), alpha);
    }
}

/// Fills an area with a picture; what extends beyond it is cut off.
pub(crate) fn fill(canvas: &mut RgbImage, picture: &RgbaImage, area: Area) {
    let filled = image::DynamicImage::from(picture.clone()).resize_to_fill(
        area.width,
        area.height,
        FilterType::CatmullRom,
    );
    lay(canvas, &filled.to_rgba8(), (area.x, area.y));
}

/// The whole picture in the size that fits into a box; small pictures are enlarged to twice their size at most.
pub(crate) fn fit(picture: RgbaImage, (width, height): (u32, u32)) -> RgbaImage {
    let (width, height) = (width.min(picture.width() * 2), height.min(picture.height() * 2));
    image::DynamicImage::from(picture)
        .resize(width, height, FilterType::CatmullRom)
        .to_rgba8()
}

/// The average color of a picture's left edge, so that paper beside it seems to be its own.
pub(crate) fn edge_color(picture: &RgbaImage) -> Rgb<u8> {
    let mut sum = [0_u64; 3];
    for y in 0..picture.height() {
        for (sum, channel) in sum.iter_mut().zip(picture.get_pixel(0, y).0) {
            *sum += u64::from(channel);
        }
    }
    let count = u64::from(picture.height()).max(1);
    // An average of bytes is a byte.
    Rgb(sum.map(|sum| (sum / count) as u8))
}

/// Encodes a canvas as JPEG.
pub(crate) fn encode(canvas: &RgbImage) -> ImageResult<Vec<u8>> {
    let mut bytes = Vec::new();
    canvas.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY))?;
    Ok(bytes)
}
