//! Reads the header of a source image and refuses what would be too expensive to decode. Sources are uploaded by
//! clients that are not trusted, so the number of pixels and scans is bounded before the first pixel is decoded.

use image::{ColorType, ImageDecoder, ImageFormat, Limits};
use selvedge_pictures::{find_largest_part, is_animated_webp, open_picture};

use super::rendered_image::RenderError;

/// Most pixels of a source, over all frames of an animation.
pub(super) const MAX_PIXELS: u64 = 50_000_000;
/// Most memory that decoding one source may take, in bytes. Sources with 16 bits per channel and progressive JPEGs take
/// more for each pixel, so they may have fewer pixels.
pub(super) const MAX_COST_BYTES: u64 = MAX_PIXELS * 9;
/// Most scans of a progressive JPEG. Real ones have about ten; decoding each costs as much as the whole image.
const MAX_SCANS: usize = 100;

/// The header of an acceptable source image.
#[derive(Debug, Clone, Copy)]
pub(super) struct SourceInfo {
    pub(super) format: ImageFormat,
    /// Pixels of one frame.
    pub(super) pixels: u64,
    /// Memory in bytes that the image may take until it is resized.
    pub(super) decoding_bytes: u64,
    /// Pixels that the decoder makes room for at a time, at least those of a frame: parts may declare more than the picture.
    pub(super) largest_part: u64,
    /// Whether it may have more than one frame.
    pub(super) is_animated: bool,
}

/// Reads the header of a source.
///
/// # Errors
/// `Invalid`, `TooLarge`.
pub(super) fn inspect_source(source: &[u8]) -> Result<SourceInfo, RenderError> {
    let format = image::guess_format(source).map_err(|_| RenderError::Invalid)?;
    let decoder = open_picture(source, format, Limits::default())?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 {
        return Err(RenderError::Invalid);
    }
    let largest_part = find_largest_part(source, format)?.max(pixels);
    if largest_part > MAX_PIXELS {
        return Err(RenderError::TooLarge);
    }
    let mut scans = 0;
    if format == ImageFormat::Jpeg {
        // FF DA starts a scan. Inside compressed data FF is always followed by 00, so only real markers are counted.
        scans = source.windows(2).filter(|pair| *pair == [0xff, 0xda]).count();
        // The second condition bounds the total work to twenty times that of the largest image.
        if scans > MAX_SCANS || scans as u64 * pixels > 20 * MAX_PIXELS {
            return Err(RenderError::TooLarge);
        }
    }
    let is_animated = match format {
        ImageFormat::Gif => true,
        ImageFormat::WebP => is_animated_webp(source)?,
        _ => false,
    };
    let decoding_bytes = if is_animated {
        // The header does not contain the number of frames, so an animation counts as the allowed maximum, and one copied
        // frame for the resizing.
        (MAX_PIXELS + largest_part) * 4
    } else {
        decoding_cost(&decoder, format, scans)
    };
    if decoding_bytes > MAX_COST_BYTES {
        return Err(RenderError::TooLarge);
    }
    Ok(SourceInfo {
        format,
        pixels,
        decoding_bytes,
        largest_part,
        is_animated,
    })
}

/// Returns the memory in bytes for decoding or for resizing, whichever is more. Decoding takes the pixels in the file's format, the
/// decoder's own buffers, and the pixels converted to eight bits per channel if the file has others. Resizing takes the pixels in
/// eight bits per channel and a copy that is rotated or premultiplied by alpha.
fn decoding_cost(decoder: &impl ImageDecoder, format: ImageFormat, scans: usize) -> u64 {
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    let kept_bytes_per_pixel = match format {
        // All coefficients, two bytes for each of three components, until the last scan has been read.
        ImageFormat::Jpeg if scans > 1 => 6,
        ImageFormat::WebP => 4,
        _ => 0,
    };
    let color = decoder.color_type();
    let eight_bit_bytes_per_pixel = if color.has_alpha() { 4 } else { 3 };
    let converted_bytes_per_pixel = match color {
        ColorType::Rgb8 | ColorType::Rgba8 => 0,
        _ => eight_bit_bytes_per_pixel,
    };
    let decoding = decoder.total_bytes() + pixels * (kept_bytes_per_pixel + converted_bytes_per_pixel);
    decoding.max(pixels * 2 * eight_bit_bytes_per_pixel)
}

#[cfg(test)]
mod tests {
    use image::codecs::png::PngEncoder;
    use image::{ExtendedColorType, ImageEncoder};

    use super::*;

    fn png(width: u32, height: u32, color: ExtendedColorType) -> Vec<u8> {
        let bits = u64::from(color.bits_per_pixel());
        let pixels =
            vec![0; usize::try_from(u64::from(width) * u64::from(height) * bits / 8).expect("small")];
        let mut bytes = Vec::new();
        PngEncoder::new(&mut bytes)
            .write_image(&pixels, width, height, color)
            .expect("encodes");
        bytes
    }

    #[test]
    fn store_093_decoding_cost_counts_16_bit_channels_and_copies() {
        let cost = |color| {
            let info = inspect_source(&png(100, 10, color)).expect("a source");
            info.decoding_bytes / info.pixels
        };

        assert_eq!(cost(ExtendedColorType::Rgb8), 3 + 3);
        assert_eq!(cost(ExtendedColorType::Rgba8), 4 + 4);
        assert_eq!(cost(ExtendedColorType::Rgba16), 8 + 4);
        assert_eq!(cost(ExtendedColorType::L16), 3 + 3);
    }
}
