//! Decoding of pictures that are in memory. image's decoders are generic over what they read from, so each crate that names one
//! compiles it again, and without optimisation in a debug build.

use std::io::Cursor;

use image::codecs::gif::GifDecoder;
use image::codecs::webp::WebPDecoder;
use image::{
    AnimationDecoder, DynamicImage, Frames, ImageDecoder, ImageFormat, ImageReader, ImageResult, Limits,
};

/// A picture whose head has been read, and none of its pixels.
pub type OpenedPicture<'a> = Box<dyn ImageDecoder + 'a>;

/// Reads the head of a picture. Decoding it keeps to the limits: edges in pixels, memory in bytes.
///
/// # Errors
/// When the head is damaged, or says that the picture is beyond the limits.
pub fn open_picture(bytes: &[u8], format: ImageFormat, limits: Limits) -> ImageResult<OpenedPicture<'_>> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    Ok(Box::new(reader.into_decoder()?))
}

/// Decodes all pixels; of an animation, those of the first frame.
///
/// # Errors
/// When the picture is damaged, or beyond the limits with which it was opened.
pub fn decode_picture(picture: OpenedPicture<'_>) -> ImageResult<DynamicImage> {
    DynamicImage::from_decoder(picture)
}

/// Decodes the frames of a GIF or WebP, each when it is asked for.
///
/// # Errors
/// When the head is damaged. A damaged frame is an error in its place.
pub fn decode_frames(bytes: &[u8], format: ImageFormat) -> ImageResult<Frames<'_>> {
    Ok(match format {
        ImageFormat::Gif => GifDecoder::new(Cursor::new(bytes))?.into_frames(),
        _ => WebPDecoder::new(Cursor::new(bytes))?.into_frames(),
    })
}

/// Whether a WebP says that it has more than one frame.
///
/// # Errors
/// When its head is damaged.
pub fn is_animated_webp(bytes: &[u8]) -> ImageResult<bool> {
    Ok(WebPDecoder::new(Cursor::new(bytes))?.has_animation())
}
