//! Checks a picture from a generator: its format, its dimensions, and that it can be decoded completely. Its content type is
//! ignored.

use image::{ImageDecoder, ImageFormat, Limits};
use selvedge_pictures::{decode_picture, find_largest_part, open_picture};

/// Shortest and longest edge in pixels.
const EDGE_RANGE: std::ops::RangeInclusive<u32> = 64..=6000;
/// Most pixels of a picture, and of each of its frames.
const MAX_PIXELS: u64 = 6000 * 6000;
/// Most memory for decoding, in bytes: enough for the largest picture with 16 bits per channel.
const MAX_DECODING_BYTES: u64 = 512 << 20;

/// A format in which pictures are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PictureFormat {
    pub(crate) content_type: &'static str,
    pub(crate) extension: &'static str,
}

/// Why a picture is refused; the text is meant for the generator's developer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PictureError {
    #[error("the picture must be a JPEG, PNG or WebP")]
    Format,
    #[error("the edges of the picture must have 64 to 6000 pixels")]
    Edges,
    #[error("the picture cannot be decoded")]
    Broken,
}

/// Checks a picture. Takes up to some seconds of a core, so it must not run on an event loop.
///
/// # Errors
/// [`PictureError`]
pub(crate) fn check_picture(bytes: &[u8]) -> Result<PictureFormat, PictureError> {
    let format = image::guess_format(bytes).map_err(|_| PictureError::Format)?;
    let accepted = match format {
        ImageFormat::Jpeg => ("image/jpeg", "jpg"),
        ImageFormat::Png => ("image/png", "png"),
        ImageFormat::WebP => ("image/webp", "webp"),
        _ => return Err(PictureError::Format),
    };
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODING_BYTES);
    // The header is read first: a picture with absurd edges is refused before any pixel is decoded.
    let picture = open_picture(bytes, format, limits).map_err(|_| PictureError::Broken)?;
    let (width, height) = picture.dimensions();
    if !EDGE_RANGE.contains(&width) || !EDGE_RANGE.contains(&height) {
        return Err(PictureError::Edges);
    }
    // A decoder makes room for a frame before it compares its size with that of the picture.
    let largest_part = find_largest_part(bytes, format).map_err(|_| PictureError::Broken)?;
    if largest_part > MAX_PIXELS {
        return Err(PictureError::Edges);
    }
    // The pixels are thrown away; a picture that is cut off or corrupt is found out only by decoding it.
    decode_picture(picture).map_err(|_| PictureError::Broken)?;
    Ok(PictureFormat {
        content_type: accepted.0,
        extension: accepted.1,
    })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::RgbImage;

    use super::*;

    fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Vec::new();
        RgbImage::new(width, height)
            .write_to(&mut Cursor::new(&mut bytes), format)
            .expect("encodes");
        bytes
    }

    #[test]
    fn formats_of_the_web_are_accepted() {
        for (format, content_type) in [
            (ImageFormat::Jpeg, "image/jpeg"),
            (ImageFormat::Png, "image/png"),
            (ImageFormat::WebP, "image/webp"),
        ] {
            let checked = check_picture(&encoded(80, 100, format)).map(|format| format.content_type);
            assert_eq!(checked, Ok(content_type));
        }
    }

    #[test]
    fn other_files_wrong_sizes_and_broken_pictures_are_refused() {
        let mut cut_off = encoded(200, 200, ImageFormat::Png);
        cut_off.truncate(cut_off.len() / 2);
        // A still picture of another size than its canvas, and a frame of 16 000 × 16 000 pixels.
        let mut contradictory = b"RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x63\0\0\x63\0\0".to_vec();
        contradictory.extend_from_slice(b"VP8L\x05\0\0\0\x2f\x7f\xfe\x9f\x0f\0");
        let mut large_frame = b"RIFF\x4a\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x63\0\0\x63\0\0".to_vec();
        large_frame.extend_from_slice(
            b"ANIM\x06\0\0\0\0\0\0\0\0\0ANMF\x1e\0\0\0\0\0\0\0\0\0\x7f\x3e\0\x7f\x3e\0\x64\0\0\0",
        );
        large_frame.extend_from_slice(b"VP8L\x05\0\0\0\x2f\x7f\xfe\x9f\x0f\0");
        for (bytes, expected) in [
            (contradictory, PictureError::Broken),
            (large_frame, PictureError::Edges),
            (
                b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(),
                PictureError::Format,
            ),
            (encoded(80, 100, ImageFormat::Gif), PictureError::Format),
            (encoded(20, 100, ImageFormat::Png), PictureError::Edges),
            (encoded(7000, 100, ImageFormat::Png), PictureError::Edges),
            (cut_off, PictureError::Broken),
        ] {
            assert_eq!(check_picture(&bytes), Err(expected));
        }
    }
}
