//! Which part of a source is cut out and how large it becomes.

use image::DynamicImage;
use selvedge_pictures::{Part, scale_part};

use super::rendered_image::RenderError;
use super::transform::{Gravity, MAX_EDGE, Resize, Transform};

/// A part of the source and the size that it is resized to. Never larger than the source.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CropAndSize {
    part: Part,
    width: u32,
    height: u32,
}

impl CropAndSize {
    /// Computes both from a transformation and the source's size. Compat: like the original's renderer, images are
    /// never enlarged.
    fn compute(transform: &Transform, source: (u32, u32)) -> Self {
        let (source_width, source_height) = (f64::from(source.0), f64::from(source.1));
        let uncropped = |width: f64, height: f64| Self {
            part: Part {
                left: 0.0,
                top: 0.0,
                width: source_width,
                height: source_height,
            },
            width: whole_pixels(width),
            height: whole_pixels(height),
        };
        let (box_width, box_height) = match (transform.width.map(f64::from), transform.height.map(f64::from))
        {
            (Some(width), Some(height)) => (width, height),
            (width, height) => {
                let edge = |edge: Option<f64>| edge.unwrap_or(f64::from(MAX_EDGE));
                let scale = (edge(width) / source_width)
                    .min(edge(height) / source_height)
                    .min(1.0);
                return uncropped(source_width * scale, source_height * scale);
            }
        };
        let (x, y) = (box_width / source_width, box_height / source_height);
        match transform.resize {
            Resize::Contain => {
                let scale = x.min(y).min(1.0);
                uncropped(source_width * scale, source_height * scale)
            }
            Resize::Fill => {
                // A source smaller than the box is not enlarged; it gets the proportions of the box.
                let excess = x.max(y).max(1.0);
                uncropped(box_width / excess, box_height / excess)
            }
            Resize::Cover => Self::cover(
                transform,
                (source_width, source_height),
                (box_width, box_height),
                x.max(y).min(1.0),
            ),
        }
    }

    /// Fills the box and cuts off what extends beyond it, at the place that gravity names.
    fn cover(transform: &Transform, source: (f64, f64), bounds: (f64, f64), scale: f64) -> Self {
        let width = whole_pixels(bounds.0.min(source.0 * scale));
        let height = whole_pixels(bounds.1.min(source.1 * scale));
        let crop_width = (f64::from(width) / scale).min(source.0);
        let crop_height = (f64::from(height) / scale).min(source.1);
        let gravity = transform.gravity.as_ref();
        let (anchor_x, anchor_y) = gravity.map_or((0.5, 0.5), Gravity::anchor);
        let (shift_x, shift_y) = gravity.map_or((0.0, 0.0), Gravity::shift);
        let (room_x, room_y) = (source.0 - crop_width, source.1 - crop_height);
        // Offsets point from the anchored edge into the image, so at the right and bottom edge they are negative.
        let inward = |anchor: f64, shift: f64| if anchor > 0.5 { -shift } else { shift };
        Self {
            part: Part {
                left: (room_x * anchor_x + inward(anchor_x, shift_x) / scale).clamp(0.0, room_x.max(0.0)),
                top: (room_y * anchor_y + inward(anchor_y, shift_y) / scale).clamp(0.0, room_y.max(0.0)),
                width: crop_width,
                height: crop_height,
            },
            width,
            height,
        }
    }
}

fn whole_pixels(length: f64) -> u32 {
    (length.round() as u32).max(1)
}

/// Crops and resizes an image by the transformation.
///
/// # Errors `Invalid` for a pixel format that cannot be resized.
pub(super) fn resize_image(image: &DynamicImage, transform: &Transform) -> Result<DynamicImage, RenderError> {
    let to = CropAndSize::compute(transform, (image.width(), image.height()));
    if (to.width, to.height) == (image.width(), image.height()) {
        return Ok(image.clone());
    }
    scale_part(image, to.part, (to.width, to.height)).map_err(|_| RenderError::Invalid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::query::Query;

    #[test]
    fn store_103_no_edge_of_a_result_exceeds_2000_pixels() {
        for (query, source, size) in [
            ("", (4000, 3000), (2000, 1500)),
            ("quality=50", (1000, 8000), (250, 2000)),
            ("width=400", (500, 100_000), (10, 2000)),
            ("height=400", (100_000, 500), (2000, 10)),
            ("width=2000", (3000, 1000), (2000, 667)),
            ("", (1999, 2000), (1999, 2000)),
            ("width=400", (500, 1000), (400, 800)),
        ] {
            let transform = Transform::from_query(&Query::parse(query)).expect(query);

            let to = CropAndSize::compute(&transform, source);

            assert_eq!((to.width, to.height), size, "{query} of {source:?}");
            let pixels = u64::from(source.0) * u64::from(source.1);
            assert!(u64::from(to.width) * u64::from(to.height) <= transform.most_pixels(pixels));
        }
    }
}
