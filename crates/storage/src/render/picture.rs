//! Pixels: a source picture's bytes and a transformation in, the new picture's bytes out. Runs on the render pool, never
//! on an event loop; knows no requests and no files.
//!
//! Sources come from strangers. Everything that is expensive is bounded by what their header says before a pixel is
//! decoded: the number of pixels, of frames, of scans.

use std::io::Cursor;
use std::time::Instant;

use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::gif::{GifDecoder, GifEncoder, Repeat};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType as PngFilter, PngEncoder};
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{
    AnimationDecoder, Delay, DynamicImage, Frame, ImageDecoder, ImageFormat, ImageReader, Limits, RgbaImage,
};
use moxcms::{ColorProfile, Layout, TransformOptions};

use super::transform::{Resize, Transform};

/// Pixels of a source, over all frames of an animation.
pub(super) const MAX_PIXELS: u64 = 50_000_000;
const MAX_FRAMES: usize = 60;
/// Passes over a progressive JPEG: real ones have about ten, each costs as much as the whole picture.
const MAX_SCANS: usize = 100;
const QUALITY: u8 = 80;
const AVIF_QUALITY: u8 = 62;
/// Above this many pixels AVIF is encoded at its fastest.
const LARGE_AVIF: u64 = 1_000_000;

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// The source's own format, where we can write it.
    Origin,
    Avif,
    Webp,
}

/// A picture as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) content_type: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unrenderable {
    /// Too many pixels, frames or scans.
    TooLarge,
    /// No picture, a broken one, or of a kind that we do not read.
    Invalid,
    /// The time is up.
    OutOfTime,
}

impl From<image::ImageError> for Unrenderable {
    fn from(error: image::ImageError) -> Self {
        match error {
            image::ImageError::Limits(_) => Self::TooLarge,
            _ => Self::Invalid,
        }
    }
}

/// A source whose header has been read and found bearable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    format: ImageFormat,
    /// Memory that rendering may take.
    pub(super) cost_bytes: u64,
    animated: bool,
}

/// Reads the header.
///
/// # Errors
/// `Invalid`, `TooLarge`.
pub(super) fn measure(source: &[u8]) -> Result<Measured, Unrenderable> {
    let format = image::guess_format(source).map_err(|_| Unrenderable::Invalid)?;
    let (width, height) = ImageReader::with_format(Cursor::new(source), format).into_dimensions()?;
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 {
        return Err(Unrenderable::Invalid);
    }
    if pixels > MAX_PIXELS {
        return Err(Unrenderable::TooLarge);
    }
    if format == ImageFormat::Jpeg {
        let scans = source.windows(2).filter(|pair| *pair == [0xff, 0xda]).count();
        if scans > MAX_SCANS || scans as u64 * pixels > 20 * MAX_PIXELS {
            return Err(Unrenderable::TooLarge);
        }
    }
    let animated = match format {
        ImageFormat::Gif => true,
        ImageFormat::WebP => WebPDecoder::new(Cursor::new(source))?.has_animation(),
        _ => false,
    };
    // How many frames there are shows only on the way.
    let kept = if animated { MAX_PIXELS } else { pixels };
    Ok(Measured {
        format,
        cost_bytes: kept * 4,
        animated,
    })
}

/// Renders.
///
/// # Errors
/// [`Unrenderable`].
pub(super) fn render(
    source: &[u8],
    measured: Measured,
    transform: &Transform,
    output: Output,
    deadline: Instant,
) -> Result<Picture, Unrenderable> {
    let job = Job { transform, deadline };
    if measured.animated
        && output != Output::Avif
        && let Some(picture) = job.animation(source, measured.format, output)?
    {
        return Ok(picture);
    }
    let (image, profile, orientation) = decode(source, measured.format)?;
    job.in_time()?;
    let image = job.fit(image, orientation)?;
    let image = to_srgb(image, profile.as_deref());
    job.in_time()?;
    job.encode(&image, measured.format, output)
}

fn decode(
    source: &[u8],
    format: ImageFormat,
) -> Result<(DynamicImage, Option<Vec<u8>>, Orientation), Unrenderable> {
    let mut reader = ImageReader::with_format(Cursor::new(source), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_PIXELS * 8);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().ok().flatten();
    let image = DynamicImage::from_decoder(decoder)?;
    Ok((eight_bits(image), profile, orientation))
}

/// Three or four channels of eight bits: what all encoders take.
fn eight_bits(image: DynamicImage) -> DynamicImage {
    match image {
        DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_) => image,
        other if other.color().has_alpha() => other.into_rgba8().into(),
        other => other.into_rgb8().into(),
    }
}

/// The cut from the source and the size that it gets. Never larger than the source.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Fit {
    left: f64,
    top: f64,
    cut_width: f64,
    cut_height: f64,
    width: u32,
    height: u32,
}

impl Fit {
    /// Compat: as the original's renderer, which does not enlarge.
    fn of(transform: &Transform, source: (u32, u32)) -> Self {
        let (source_width, source_height) = (f64::from(source.0), f64::from(source.1));
        let whole = |width: f64, height: f64| Self {
            left: 0.0,
            top: 0.0,
            cut_width: source_width,
            cut_height: source_height,
            width: pixels(width),
            height: pixels(height),
        };
        let (wanted_width, wanted_height) =
            match (transform.width.map(f64::from), transform.height.map(f64::from)) {
                (None, None) => return whole(source_width, source_height),
                (Some(width), Some(height)) => (width, height),
                (width, height) => {
                    let scale = width
                        .map_or_else(
                            || height.unwrap_or_default() / source_height,
                            |w| w / source_width,
                        )
                        .min(1.0);
                    return whole(source_width * scale, source_height * scale);
                }
            };
        let (x, y) = (wanted_width / source_width, wanted_height / source_height);
        match transform.resize {
            Resize::Contain => {
                let scale = x.min(y).min(1.0);
                whole(source_width * scale, source_height * scale)
            }
            Resize::Fill => {
                // Too small a source keeps the box's proportions instead.
                let excess = x.max(y).max(1.0);
                whole(wanted_width / excess, wanted_height / excess)
            }
            Resize::Cover => {
                let scale = x.max(y).min(1.0);
                let width = pixels(wanted_width.min(source_width * scale));
                let height = pixels(wanted_height.min(source_height * scale));
                let (cut_width, cut_height) = (
                    (f64::from(width) / scale).min(source_width),
                    (f64::from(height) / scale).min(source_height),
                );
                let gravity = transform.gravity.as_ref();
                let (anchor_x, anchor_y) = gravity.map_or((0.5, 0.5), super::transform::Gravity::anchor);
                let (shift_x, shift_y) = gravity.map_or((0.0, 0.0), super::transform::Gravity::shift);
                let (room_x, room_y) = (source_width - cut_width, source_height - cut_height);
                // An offset leads away from the edge that the picture is anchored at.
                let inward = |anchor: f64, shift: f64| if anchor > 0.5 { -shift } else { shift };
                Self {
                    left: (room_x * anchor_x + inward(anchor_x, shift_x) / scale).clamp(0.0, room_x.max(0.0)),
                    top: (room_y * anchor_y + inward(anchor_y, shift_y) / scale).clamp(0.0, room_y.max(0.0)),
                    cut_width,
                    cut_height,
                    width,
                    height,
                }
            }
        }
    }
}

fn pixels(length: f64) -> u32 {
    (length.round() as u32).max(1)
}

/// Whether turning swaps width and height.
fn swaps_axes(orientation: Orientation) -> bool {
    matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    )
}

struct Job<'a> {
    transform: &'a Transform,
    deadline: Instant,
}

impl Job<'_> {
    fn in_time(&self) -> Result<(), Unrenderable> {
        if Instant::now() < self.deadline {
            Ok(())
        } else {
            Err(Unrenderable::OutOfTime)
        }
    }

    /// Scales, cuts and turns upright.
    fn fit(&self, mut image: DynamicImage, orientation: Orientation) -> Result<DynamicImage, Unrenderable> {
        let centred = self
            .transform
            .gravity
            .as_ref()
            .is_none_or(super::transform::Gravity::is_centre);
        if !centred {
            image.apply_orientation(orientation);
            return self.scale(&image, self.transform);
        }
        // Turning few pixels is cheaper than turning many.
        let mut scaled = if swaps_axes(orientation) {
            let mut turned = self.transform.clone();
            std::mem::swap(&mut turned.width, &mut turned.height);
            self.scale(&image, &turned)?
        } else {
            self.scale(&image, self.transform)?
        };
        scaled.apply_orientation(orientation);
        Ok(scaled)
    }

    fn scale(&self, image: &DynamicImage, transform: &Transform) -> Result<DynamicImage, Unrenderable> {
        let fit = Fit::of(transform, (image.width(), image.height()));
        if (fit.width, fit.height) == (image.width(), image.height()) {
            return Ok(image.clone());
        }
        let mut scaled = DynamicImage::new(fit.width, fit.height, image.color());
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
            .crop(fit.left, fit.top, fit.cut_width, fit.cut_height);
        Resizer::new()
            .resize(image, &mut scaled, &options)
            .map_err(|_| Unrenderable::Invalid)?;
        Ok(scaled)
    }

    fn quality(&self, default: u8) -> u8 {
        self.transform.quality.unwrap_or(default)
    }

    fn encode(
        &self,
        image: &DynamicImage,
        source: ImageFormat,
        output: Output,
    ) -> Result<Picture, Unrenderable> {
        let mut bytes = Vec::new();
        let content_type = match (output, source) {
            (Output::Webp, _) | (Output::Origin, ImageFormat::WebP) => {
                bytes = self.webp(image)?;
                "image/webp"
            }
            (Output::Avif, _) => {
                bytes = self.avif(image)?;
                "image/avif"
            }
            (Output::Origin, ImageFormat::Jpeg) => {
                let encoder = JpegEncoder::new_with_quality(&mut bytes, self.quality(QUALITY));
                image.to_rgb8().write_with_encoder(encoder)?;
                "image/jpeg"
            }
            (Output::Origin, ImageFormat::Gif) => {
                GifEncoder::new_with_speed(&mut bytes, 10).encode_frame(Frame::new(image.to_rgba8()))?;
                "image/gif"
            }
            // What no browser takes becomes PNG.
            (Output::Origin, _) => {
                let encoder =
                    PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, PngFilter::Adaptive);
                image.write_with_encoder(encoder)?;
                "image/png"
            }
        };
        Ok(Picture { content_type, bytes })
    }

    fn webp_config(&self) -> Result<webp::WebPConfig, Unrenderable> {
        let mut config = webp::WebPConfig::new().map_err(|()| Unrenderable::Invalid)?;
        config.quality = f32::from(self.quality(QUALITY));
        config.method = 4;
        Ok(config)
    }

    fn webp(&self, image: &DynamicImage) -> Result<Vec<u8>, Unrenderable> {
        let (width, height) = (image.width(), image.height());
        let encoder = match image {
            DynamicImage::ImageRgb8(pixels) => webp::Encoder::from_rgb(pixels, width, height),
            DynamicImage::ImageRgba8(pixels) => webp::Encoder::from_rgba(pixels, width, height),
            _ => return Err(Unrenderable::Invalid),
        };
        let encoded = encoder.encode_advanced(&self.webp_config()?);
        encoded
            .map(|bytes| bytes.to_vec())
            .map_err(|_| Unrenderable::Invalid)
    }

    fn avif(&self, image: &DynamicImage) -> Result<Vec<u8>, Unrenderable> {
        let (width, height) = (image.width() as usize, image.height() as usize);
        let large = (width * height) as u64 > LARGE_AVIF;
        let encoder = ravif::Encoder::new()
            .with_quality(f32::from(self.quality(AVIF_QUALITY)))
            .with_speed(if large { 10 } else { 9 })
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
            .map_err(|_| Unrenderable::Invalid)
    }

    /// All frames of an animation; none for a single one, which is a picture like any other.
    fn animation(
        &self,
        source: &[u8],
        format: ImageFormat,
        output: Output,
    ) -> Result<Option<Picture>, Unrenderable> {
        let frames = match format {
            ImageFormat::Gif => GifDecoder::new(Cursor::new(source))?.into_frames(),
            _ => WebPDecoder::new(Cursor::new(source))?.into_frames(),
        };
        let mut scaled: Vec<(RgbaImage, Delay)> = Vec::new();
        let mut decoded = 0;
        for frame in frames {
            self.in_time()?;
            let frame = frame?;
            let delay = frame.delay();
            let image = DynamicImage::from(frame.into_buffer());
            decoded += u64::from(image.width()) * u64::from(image.height());
            if scaled.len() == MAX_FRAMES || decoded > MAX_PIXELS {
                return Err(Unrenderable::TooLarge);
            }
            scaled.push((self.scale(&image, self.transform)?.into_rgba8(), delay));
        }
        match scaled.len() {
            0 => Err(Unrenderable::Invalid),
            1 => Ok(None),
            _ if output == Output::Webp || format == ImageFormat::WebP => {
                self.animated_webp(&scaled).map(Some)
            }
            _ => self.animated_gif(scaled).map(Some),
        }
    }

    fn animated_gif(&self, frames: Vec<(RgbaImage, Delay)>) -> Result<Picture, Unrenderable> {
        let mut bytes = Vec::new();
        let mut encoder = GifEncoder::new_with_speed(&mut bytes, 15);
        encoder.set_repeat(Repeat::Infinite)?;
        for (image, delay) in frames {
            self.in_time()?;
            encoder.encode_frame(Frame::from_parts(image, 0, 0, delay))?;
        }
        drop(encoder);
        Ok(Picture {
            content_type: "image/gif",
            bytes,
        })
    }

    fn animated_webp(&self, frames: &[(RgbaImage, Delay)]) -> Result<Picture, Unrenderable> {
        let (first, _) = frames.first().ok_or(Unrenderable::Invalid)?;
        let config = self.webp_config()?;
        let mut encoder = webp::AnimEncoder::new(first.width(), first.height(), &config);
        let mut at_ms: i32 = 0;
        for (image, delay) in frames {
            encoder.add_frame(webp::AnimFrame::from_rgba(
                image,
                image.width(),
                image.height(),
                at_ms,
            ));
            let (numerator, denominator) = delay.numer_denom_ms();
            let lasts = numerator / denominator.max(1);
            at_ms = at_ms.saturating_add(i32::try_from(lasts).unwrap_or(100).clamp(1, 60_000));
        }
        let encoded = encoder.try_encode().map_err(|_| Unrenderable::Invalid)?;
        Ok(Picture {
            content_type: "image/webp",
            bytes: encoded.to_vec(),
        })
    }
}

/// Colours of the web: without its profile, a picture of a wider space would look dull.
fn to_srgb(image: DynamicImage, profile: Option<&[u8]>) -> DynamicImage {
    let Some(profile) = profile.and_then(|bytes| ColorProfile::new_from_slice(bytes).ok()) else {
        return image;
    };
    let layout = if image.color().has_alpha() {
        Layout::Rgba
    } else {
        Layout::Rgb
    };
    let srgb = ColorProfile::new_srgb();
    // A profile that does not fit the pixels (CMYK, grey) is ignored.
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
