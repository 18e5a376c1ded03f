//! Renders animated GIF and WebP images frame by frame.

use image::codecs::gif::{GifEncoder, Repeat};
use image::{Delay, DynamicImage, Frame, ImageFormat, RgbaImage};
use selvedge_pictures::decode_frames;

use super::encode::build_webp_config;
use super::geometry::resize_image;
use super::output::Output;
use super::rendered_image::{Deadline, RenderError, RenderedImage};
use super::source::{MAX_PIXELS, SourceInfo};
use super::transform::Transform;

/// Most frames of an animation.
const MAX_FRAMES: usize = 60;

/// Renders all frames of an animation; `None` when there is only one, which is rendered as a still image.
///
/// # Errors
/// `TooLarge`, `Invalid`, `OutOfTime`.
pub(super) fn render_animation(
    source: &[u8],
    info: SourceInfo,
    transform: &Transform,
    output: Output,
    deadline: Deadline,
) -> Result<Option<RenderedImage>, RenderError> {
    let format = info.format;
    let mut resized: Vec<(RgbaImage, Delay)> = Vec::new();
    let mut decoded = 0;
    for frame in decode_frames(source, format)? {
        deadline.check()?;
        let frame = frame?;
        let delay = frame.delay();
        let image = DynamicImage::from(frame.into_buffer());
        decoded += info.largest_part;
        // A small file can hold many large frames, so frames and pixels are counted while they are decoded.
        if resized.len() == MAX_FRAMES || decoded > MAX_PIXELS {
            return Err(RenderError::TooLarge);
        }
        resized.push((resize_image(&image, transform)?.into_rgba8(), delay));
    }
    match resized.len() {
        0 => Err(RenderError::Invalid),
        1 => Ok(None),
        _ if output == Output::Webp || format == ImageFormat::WebP => {
            encode_animated_webp(&resized, transform.quality).map(Some)
        }
        _ => encode_animated_gif(resized, deadline).map(Some),
    }
}

fn encode_animated_gif(
    frames: Vec<(RgbaImage, Delay)>,
    deadline: Deadline,
) -> Result<RenderedImage, RenderError> {
    let mut bytes = Vec::new();
    // Speed of 1 to 30, higher is faster and coarser. Still images use 10; an animation has many frames to encode in
    // time.
    let mut encoder = GifEncoder::new_with_speed(&mut bytes, 15);
    encoder.set_repeat(Repeat::Infinite)?;
    for (image, delay) in frames {
        deadline.check()?;
        encoder.encode_frame(Frame::from_parts(image, 0, 0, delay))?;
    }
    drop(encoder);
    Ok(RenderedImage {
        content_type: "image/gif",
        bytes,
    })
}

fn encode_animated_webp(
    frames: &[(RgbaImage, Delay)],
    quality: Option<u8>,
) -> Result<RenderedImage, RenderError> {
    let (first, _) = frames.first().ok_or(RenderError::Invalid)?;
    let config = build_webp_config(quality)?;
    let mut encoder = webp::AnimEncoder::new(first.width(), first.height(), &config);
    let mut start_ms: i32 = 0;
    for (image, delay) in frames {
        encoder.add_frame(webp::AnimFrame::from_rgba(
            image,
            image.width(),
            image.height(),
            start_ms,
        ));
        let (numerator, denominator) = delay.numer_denom_ms();
        let duration_ms = numerator / denominator.max(1);
        // WebP requires ascending times, so a frame lasts at least 1 ms; a minute at most keeps the sum within 32 bits.
        start_ms = start_ms.saturating_add(i32::try_from(duration_ms).unwrap_or(100).clamp(1, 60_000));
    }
    let encoded = encoder.try_encode().map_err(|_| RenderError::Invalid)?;
    Ok(RenderedImage {
        content_type: "image/webp",
        bytes: encoded.to_vec(),
    })
}
