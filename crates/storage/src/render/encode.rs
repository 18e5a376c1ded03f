//! Encodes a finished image as JPEG, PNG, GIF, WebP or AVIF.

use image::codecs::gif::GifEncoder;
use image::{DynamicImage, Frame, ImageFormat, Rgb, RgbImage};
use selvedge_pictures::{encode_jpeg, encode_png};

use super::output::Output;
use super::rendered_image::{RenderError, RenderedImage};

/// Quality of JPEG and WebP when the request names none; the original's default.
const DEFAULT_QUALITY: u8 = 80;
/// Quality of AVIF when the request names none: looks about like 80 in JPEG, because the scales differ.
const DEFAULT_AVIF_QUALITY: u8 = 62;
/// Above this many pixels AVIF is encoded at its fastest speed, to stay within the time limit.
const LARGE_AVIF_PIXELS: u64 = 1_000_000;

/// Encodes an image. `source` is the format that the object has; formats that browsers do not show become PNG.
///
/// # Errors
/// `Invalid` when the encoder refuses the image.
pub(super) fn encode_image(
    image: &DynamicImage,
    source: ImageFormat,
    output: Output,
    quality: Option<u8>,
) -> Result<RenderedImage, RenderError> {
    let mut bytes = Vec::new();
    let content_type = match (output, source) {
        (Output::Webp, _) | (Output::Origin, ImageFormat::WebP) => {
            bytes = encode_webp(image, quality)?;
            "image/webp"
        }
        (Output::Avif, _) => {
            bytes = encode_avif(image, quality)?;
            "image/avif"
        }
        (Output::Jpeg, _) | (Output::Origin, ImageFormat::Jpeg) => {
            bytes = encode_jpeg(&flatten_on_white(image), quality.unwrap_or(DEFAULT_QUALITY))?;
            "image/jpeg"
        }
        (Output::Origin, ImageFormat::Gif) => {
            GifEncoder::new_with_speed(&mut bytes, 10).encode_frame(Frame::new(image.to_rgba8()))?;
            "image/gif"
        }
        (Output::Origin, _) => {
            bytes = encode_png(image)?;
            "image/png"
        }
    };
    Ok(RenderedImage { content_type, bytes })
}

/// The image without transparency, which JPEG does not have, as if it lay on white paper.
fn flatten_on_white(image: &DynamicImage) -> RgbImage {
    let DynamicImage::ImageRgba8(pixels) = image else {
        return image.to_rgb8();
    };
    let over_white = |colour: u8, alpha: u8| {
        let (colour, alpha) = (u16::from(colour), u16::from(alpha));
        // At most 255, because it is a weighted mean of `colour` and 255.
        ((colour * alpha + 255 * (255 - alpha)) / 255) as u8
    };
    RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let [red, green, blue, alpha] = pixels.get_pixel(x, y).0;
        Rgb([red, green, blue].map(|colour| over_white(colour, alpha)))
    })
}

/// The settings of still and animated WebP.
pub(super) fn build_webp_config(quality: Option<u8>) -> Result<webp::WebPConfig, RenderError> {
    let mut config = webp::WebPConfig::new().map_err(|()| RenderError::Invalid)?;
    config.quality = f32::from(quality.unwrap_or(DEFAULT_QUALITY));
    // libwebp's default, from 0 (fast) to 6 (small).
    config.method = 4;
    Ok(config)
}

fn encode_webp(image: &DynamicImage, quality: Option<u8>) -> Result<Vec<u8>, RenderError> {
    let (width, height) = (image.width(), image.height());
    let encoder = match image {
        DynamicImage::ImageRgb8(pixels) => webp::Encoder::from_rgb(pixels, width, height),
        DynamicImage::ImageRgba8(pixels) => webp::Encoder::from_rgba(pixels, width, height),
        _ => return Err(RenderError::Invalid),
    };
    let encoded = encoder.encode_advanced(&build_webp_config(quality)?);
    encoded
        .map(|bytes| bytes.to_vec())
        .map_err(|_| RenderError::Invalid)
}

fn encode_avif(image: &DynamicImage, quality: Option<u8>) -> Result<Vec<u8>, RenderError> {
    let (width, height) = (image.width() as usize, image.height() as usize);
    let is_large = (width * height) as u64 > LARGE_AVIF_PIXELS;
    // One thread per image, because the renderer runs as many images at a time as there are cores.
    let encoder = ravif::Encoder::new()
        .with_quality(f32::from(quality.unwrap_or(DEFAULT_AVIF_QUALITY)))
        .with_speed(if is_large { 10 } else { 9 })
        .with_num_threads(Some(1));
    let encoded = match image {
        DynamicImage::ImageRgba8(pixels) => {
            let pixels: Vec<_> = pixels
                .pixels()
                .map(|p| ravif::RGBA8::new(p[0], p[1], p[2], p[3]))
                .collect();
            encoder.encode_rgba(ravif::Img::new(pixels.as_slice(), width, height))
        }
        other => {
            let pixels: Vec<_> = other
                .to_rgb8()
                .pixels()
                .map(|p| ravif::RGB8::new(p[0], p[1], p[2]))
                .collect();
            encoder.encode_rgb(ravif::Img::new(pixels.as_slice(), width, height))
        }
    };
    encoded
        .map(|encoded| encoded.avif_file)
        .map_err(|_| RenderError::Invalid)
}
