//! Renders one image: decodes the source, resizes it, turns it upright, converts its colours and encodes it. Runs on
//! the blocking pool, never on an event loop; works on bytes in memory, without requests and files.

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, Limits};
use moxcms::{ColorProfile, Layout, TransformOptions};
use selvedge_pictures::{decode_picture, open_picture};

use super::animation::render_animation;
use super::encode::encode_image;
use super::geometry::resize_image;
use super::output::Output;
use super::rendered_image::{Deadline, RenderError, RenderedImage};
use super::source::{MAX_PIXELS, SourceInfo};
use super::transform::{Gravity, Transform};

/// Renders a source that [`inspect_source`](super::source::inspect_source) has accepted.
///
/// # Errors
/// `TooLarge`, `Invalid`, `OutOfTime`.
pub(super) fn transform_image(
    source: &[u8],
    info: SourceInfo,
    transform: &Transform,
    output: Output,
    deadline: Deadline,
) -> Result<RenderedImage, RenderError> {
    // An animated AVIF cannot be encoded here, and JPEG has no animation: the first frame is rendered as a still image.
    if info.is_animated
        && !matches!(output, Output::Avif | Output::Jpeg)
        && let Some(image) = render_animation(source, info, transform, output, deadline)?
    {
        return Ok(image);
    }
    let decoded = decode_source(source, info.format)?;
    deadline.check()?;
    let image = resize_upright(decoded.image, decoded.orientation, transform)?;
    // After resizing, because fewer pixels have to be converted.
    let image = convert_to_srgb(image, decoded.icc_profile.as_deref());
    deadline.check()?;
    encode_image(&image, info.format, output, transform.quality)
}

/// A decoded source and its metadata about orientation and colours.
struct DecodedSource {
    image: DynamicImage,
    icc_profile: Option<Vec<u8>>,
    orientation: Orientation,
}

fn decode_source(source: &[u8], format: ImageFormat) -> Result<DecodedSource, RenderError> {
    let mut limits = Limits::default();
    // Eight bytes per pixel: RGBA with 16 bits per channel.
    limits.max_alloc = Some(MAX_PIXELS * 8);
    let mut decoder = open_picture(source, format, limits)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let icc_profile = decoder.icc_profile().ok().flatten();
    let image = decode_picture(decoder)?;
    Ok(DecodedSource {
        image: convert_to_eight_bits(image),
        icc_profile,
        orientation,
    })
}

/// Converts to RGB or RGBA with eight bits per channel, which all encoders take.
fn convert_to_eight_bits(image: DynamicImage) -> DynamicImage {
    match image {
        DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_) => image,
        other if other.color().has_alpha() => other.into_rgba8().into(),
        other => other.into_rgb8().into(),
    }
}

/// Resizes an image and applies the orientation of its EXIF data.
fn resize_upright(
    mut image: DynamicImage,
    orientation: Orientation,
    transform: &Transform,
) -> Result<DynamicImage, RenderError> {
    let is_centred = transform.gravity.as_ref().is_none_or(Gravity::is_centre);
    if !is_centred {
        image.apply_orientation(orientation);
        return resize_image(&image, transform);
    }
    // Turning the small result is cheaper than turning the source, and makes no difference when the centre is kept.
    let mut resized = if swaps_axes(orientation) {
        let mut turned = transform.clone();
        std::mem::swap(&mut turned.width, &mut turned.height);
        resize_image(&image, &turned)?
    } else {
        resize_image(&image, transform)?
    };
    resized.apply_orientation(orientation);
    Ok(resized)
}

/// Whether an orientation exchanges width and height.
fn swaps_axes(orientation: Orientation) -> bool {
    matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    )
}

/// Converts colours to sRGB. The encoders write no profile, and without one an image of a wider colour space looks
/// dull.
fn convert_to_srgb(image: DynamicImage, profile: Option<&[u8]>) -> DynamicImage {
    let Some(profile) = profile.and_then(|bytes| ColorProfile::new_from_slice(bytes).ok()) else {
        return image;
    };
    let layout = if image.color().has_alpha() {
        Layout::Rgba
    } else {
        Layout::Rgb
    };
    let srgb = ColorProfile::new_srgb();
    // A profile for other channels than the pixels have (CMYK, grey) is ignored.
    let Ok(conversion) = profile.create_transform_8bit(layout, &srgb, layout, TransformOptions::default())
    else {
        return image;
    };
    let mut converted = image.clone();
    let pixels: &mut [u8] = match &mut converted {
        DynamicImage::ImageRgb8(pixels) => pixels,
        DynamicImage::ImageRgba8(pixels) => pixels,
        _ => return image,
    };
    match conversion.transform(image.as_bytes(), pixels) {
        Ok(()) => converted,
        Err(_) => image,
    }
}
