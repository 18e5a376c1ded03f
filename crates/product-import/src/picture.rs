//! A retailer's picture becomes a JPEG of ours: what is stored was encoded here, so it holds pixels and nothing else,
//! neither scripts nor metadata nor another format behind a picture's first bytes.

use image::error::{LimitError, LimitErrorKind};
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageError, Limits, Rgb, RgbImage};
use selvedge_pictures::{decode_picture, encode_jpeg, find_largest_part, open_picture};

use crate::error::ImportError;

/// Longest file that is fetched.
pub(crate) const MAX_FILE_BYTES: usize = 10 << 20;
/// Longest side of a picture that is decoded, and the memory that decoding may take.
const MAX_SIDE: u32 = 8000;
const MAX_DECODED_BYTES: u64 = 256 << 20;
/// Pixels of the largest part that a picture may declare: as many as fit into that memory with four bytes each.
const MAX_PART_PIXELS: u64 = MAX_DECODED_BYTES / 4;
/// A longer side is scaled down to this, as no page of a site shows more.
const STORED_SIDE: u32 = 2000;
const QUALITY: u8 = 88;

/// Decodes a picture and encodes it as JPEG. Takes up to a second of CPU time, so call it on a blocking thread.
///
/// # Errors
/// [`ImportError::BadPicture`] for a file that is not a picture, is damaged or has too many pixels.
pub fn encode_picture(file: &[u8]) -> Result<Vec<u8>, ImportError> {
    let decoded = decode(file).map_err(|error| {
        tracing::debug!(%error, "the picture of a product cannot be decoded");
        ImportError::BadPicture
    })?;
    let fitted = match decoded.width().max(decoded.height()) > STORED_SIDE {
        true => decoded.resize(STORED_SIDE, STORED_SIDE, FilterType::CatmullRom),
        false => decoded,
    };
    encode_jpeg(&lay_on_white(&fitted), QUALITY).map_err(|_| ImportError::BadPicture)
}

fn decode(file: &[u8]) -> image::ImageResult<DynamicImage> {
    let format = image::guess_format(file)?;
    // The limits below are compared with the size of the whole picture, and a frame may be larger than that.
    let largest_part = find_largest_part(file, format);
    if !matches!(largest_part, Ok(pixels) if pixels <= MAX_PART_PIXELS) {
        return Err(ImageError::Limits(LimitError::from_kind(
            LimitErrorKind::DimensionError,
        )));
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    let mut decoder = open_picture(file, format, limits)?;
    let orientation = decoder.orientation()?;
    let mut picture = decode_picture(decoder)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// JPEG has no transparency; shops show their products on white.
fn lay_on_white(picture: &DynamicImage) -> RgbImage {
    if !picture.color().has_alpha() {
        return picture.to_rgb8();
    }
    let source = picture.to_rgba8();
    RgbImage::from_fn(source.width(), source.height(), |x, y| {
        let [red, green, blue, alpha] = source.get_pixel(x, y).0;
        let blend = |channel: u8| {
            let (channel, alpha) = (u32::from(channel), u32::from(alpha));
            u8::try_from((channel * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
        };
        Rgb([blend(red), blend(green), blend(blue)])
    })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{ImageFormat, Rgba, RgbaImage};

    use super::*;

    fn png(width: u32, height: u32, pixel: [u8; 4]) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        RgbaImage::from_pixel(width, height, Rgba(pixel))
            .write_to(&mut file, ImageFormat::Png)
            .expect("a picture");
        file.into_inner()
    }

    #[test]
    fn pictures_become_jpegs_of_at_most_2000_pixels_on_white() {
        let jpeg = encode_picture(&png(2500, 1000, [0, 0, 0, 0])).expect("a picture");
        let stored = image::load_from_memory_with_format(&jpeg, ImageFormat::Jpeg).expect("a JPEG");

        assert_eq!((stored.width(), stored.height()), (2000, 800));
        assert_eq!(stored.to_rgb8().get_pixel(5, 5).0, [255, 255, 255]);
    }

    #[test]
    fn files_that_are_no_pictures_or_have_too_many_pixels_are_refused() {
        let mut cut = png(40, 40, [1, 2, 3, 255]);
        cut.truncate(40);
        let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".to_vec();
        // A PNG whose head claims 60 000 × 60 000 pixels in a few bytes.
        let mut bomb = png(1, 1, [0, 0, 0, 255]);
        bomb[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
        // One pixel whose frame claims 16 000 × 16 000: in a GIF, and behind the canvas of a WebP.
        let mut frame_bomb = Cursor::new(Vec::new());
        RgbaImage::new(1, 1)
            .write_to(&mut frame_bomb, ImageFormat::Gif)
            .expect("a picture");
        let mut frame_bomb = frame_bomb.into_inner();
        let descriptor = frame_bomb
            .iter()
            .rposition(|byte| *byte == 0x2c)
            .expect("a frame");
        frame_bomb[descriptor + 5..descriptor + 9].copy_from_slice(&[0x80, 0x3e, 0x80, 0x3e]);
        let canvas_bomb =
            b"RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0VP8L\x05\0\0\0\x2f\x7f\xfe\x9f\x0f\0"
                .to_vec();
        for file in [&frame_bomb, &canvas_bomb] {
            let refused = decode(file);
            assert!(matches!(refused, Err(ImageError::Limits(_))), "{refused:?}");
        }
        for file in [Vec::new(), cut, svg, bomb] {
            assert!(matches!(encode_picture(&file), Err(ImportError::BadPicture)));
        }
    }
}
