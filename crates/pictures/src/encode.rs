//! Encoding into memory, in the formats whose encoders are image's own and generic over what they write to.

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ImageResult, RgbImage};

/// Encodes a JPEG. The quality is from 1 to 100.
///
/// # Errors
/// When an edge has more than 65 535 pixels.
pub fn encode_jpeg(image: &RgbImage, quality: u8) -> ImageResult<Vec<u8>> {
    let mut bytes = Vec::new();
    image.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, quality))?;
    Ok(bytes)
}

/// Encodes a PNG.
///
/// # Errors
/// When the encoder does not take the pixels' type.
pub fn encode_png(image: &DynamicImage) -> ImageResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive);
    image.write_with_encoder(encoder)?;
    Ok(bytes)
}
