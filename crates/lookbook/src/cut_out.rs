//! Takes the plain background of an item's picture away, from the border inwards, so that items lie on one sheet.

use image::{Rgba, RgbaImage, imageops};

/// Shares of the picture that a background may have; with less, or more, the picture stays as it is.
const LEAST_BACKGROUND: f64 = 0.12;
const MOST_BACKGROUND: f64 = 0.93;
/// How far the colors at the border may lie from their average, on average.
const MOST_UNEVEN: f64 = 24.0;
/// How far a pixel of the background may be from the average color of the border, apart from being darker or lighter.
const MOST_TINTED: f64 = 15.0;
/// Brightness in the deepest shadow and in the lightest part, as shares of the background's.
const DARKEST: f64 = 0.45;
const LIGHTEST: f64 = 1.12;
/// A shadow grows softly: where the brightness changes more from one pixel to the next, the thing begins.
const SOFTEST: f64 = 0.06;

/// The item without its background and without empty borders; `None` where the background is not plain.
pub(crate) fn cut_out(picture: &RgbaImage) -> Option<RgbaImage> {
    let (width, height) = picture.dimensions();
    let border = border_pixels(picture);
    let mean = mean_of(&border)?;
    let uneven = border
        .iter()
        .map(|pixel| distance(channels(pixel), mean))
        .sum::<f64>();
    if uneven / border.len() as f64 > MOST_UNEVEN {
        return None;
    }
    let reached = reach_background(picture, mean);
    let count = reached.iter().filter(|shade| shade.is_some()).count();
    let share = count as f64 / (f64::from(width) * f64::from(height));
    if !(LEAST_BACKGROUND..=MOST_BACKGROUND).contains(&share) {
        return None;
    }
    let mut cut = picture.clone();
    let is_background = |x: u32, y: u32| reached[place(x, y, width)].is_some();
    let mut bounds: Option<(u32, u32, u32, u32)> = None;
    for (x, y, pixel) in cut.enumerate_pixels_mut() {
        if is_background(x, y) {
            pixel.0[3] = 0;
            continue;
        }
        // The outermost pixels of the thing have some of the background's color.
        if neighbours(x, y, width, height).any(|(x, y)| is_background(x, y)) {
            pixel.0[3] = 150;
        }
        let (left, top, right, bottom) = bounds.unwrap_or((x, y, x, y));
        bounds = Some((left.min(x), top.min(y), right.max(x), bottom.max(y)));
    }
    let (left, top, right, bottom) = bounds?;
    Some(imageops::crop_imm(&cut, left, top, right - left + 1, bottom - top + 1).to_image())
}

/// Shades of the pixels that are reached from the border over the background and its shadows.
fn reach_background(picture: &RgbaImage, mean: [f64; 3]) -> Vec<Option<f64>> {
    let (width, height) = picture.dimensions();
    let mut shades: Vec<Option<f64>> = vec![None; picture.pixels().len()];
    let mut waiting: Vec<(u32, u32, f64)> = Vec::new();
    let rows = (0..height).flat_map(|y| [(0, y), (width - 1, y)]);
    let columns = (0..width).flat_map(|x| [(x, 0), (x, height - 1)]);
    for (x, y) in rows.chain(columns) {
        // The border itself may be lighter at one side.
        if let Some(shade) = shade_of(picture.get_pixel(x, y), mean) {
            shades[place(x, y, width)] = Some(shade);
            waiting.push((x, y, shade));
        }
    }
    while let Some((x, y, from)) = waiting.pop() {
        for (x, y) in neighbours(x, y, width, height) {
            let at = place(x, y, width);
            if shades[at].is_some() {
                continue;
            }
            if let Some(shade) = shade_of(picture.get_pixel(x, y), mean)
                && (shade - from).abs() <= SOFTEST
            {
                shades[at] = Some(shade);
                waiting.push((x, y, shade));
            }
        }
    }
    shades
}

/// The pixel's brightness as a share of the background's; `None` where it is another color.
fn shade_of(pixel: &Rgba<u8>, mean: [f64; 3]) -> Option<f64> {
    let color = channels(pixel);
    let own: f64 = mean.iter().map(|channel| channel * channel).sum();
    let dot: f64 = color.iter().zip(mean).map(|(color, mean)| color * mean).sum();
    let shade = if own == 0.0 { 1.0 } else { dot / own };
    let tint = distance(color, mean.map(|channel| channel * shade));
    (tint <= MOST_TINTED && (DARKEST..=LIGHTEST).contains(&shade)).then_some(shade)
}

fn neighbours(x: u32, y: u32, width: u32, height: u32) -> impl Iterator<Item = (u32, u32)> {
    let left = x.checked_sub(1).map(|x| (x, y));
    let above = y.checked_sub(1).map(|y| (x, y));
    let right = (x + 1 < width).then_some((x + 1, y));
    let below = (y + 1 < height).then_some((x, y + 1));
    [left, right, above, below].into_iter().flatten()
}

fn place(x: u32, y: u32, width: u32) -> usize {
    y as usize * width as usize + x as usize
}

fn channels(pixel: &Rgba<u8>) -> [f64; 3] {
    let [red, green, blue, _] = pixel.0;
    [red, green, blue].map(f64::from)
}

fn distance(one: [f64; 3], other: [f64; 3]) -> f64 {
    let squares = one.iter().zip(other).map(|(one, other)| (one - other).powi(2));
    squares.sum::<f64>().sqrt()
}

fn border_pixels(picture: &RgbaImage) -> Vec<Rgba<u8>> {
    let (width, height) = picture.dimensions();
    let pixels = picture.enumerate_pixels();
    pixels
        .filter(|(x, y, _)| *x == 0 || *y == 0 || *x + 1 == width || *y + 1 == height)
        .map(|(_, _, pixel)| *pixel)
        .collect()
}

fn mean_of(pixels: &[Rgba<u8>]) -> Option<[f64; 3]> {
    let count = pixels.len() as f64;
    let mut sum = [0.0; 3];
    for pixel in pixels {
        for (sum, channel) in sum.iter_mut().zip(channels(pixel)) {
            *sum += channel;
        }
    }
    (!pixels.is_empty()).then(|| sum.map(|sum| sum / count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_on_plain_paper_is_cut_out_with_its_shadow_left_behind() {
        let picture = RgbaImage::from_fn(100, 100, |x, y| {
            let (dx, dy) = (f64::from(x) - 50.0, f64::from(y) - 50.0);
            let from_middle = dx.hypot(dy);
            if from_middle < 20.0 {
                return Rgba([30, 60, 140, 255]);
            }
            // Darker towards the thing.
            let shade = 1.0 - 0.3 * (1.0 - (from_middle - 20.0) / 30.0).clamp(0.0, 1.0);
            Rgba([232.0, 222.0, 208.0, 255.0].map(|channel: f64| {
                if channel == 255.0 {
                    255
                } else {
                    (channel * shade) as u8
                }
            }))
        });

        let cut = cut_out(&picture).expect("is cut out");

        assert!((38..=44).contains(&cut.width()), "{}", cut.width());
        assert_eq!(cut.get_pixel(cut.width() / 2, cut.height() / 2).0[3], 255);
        assert_eq!(cut.get_pixel(0, 0).0[3], 0);
    }

    #[test]
    fn photos_and_empty_paper_stay_as_they_are() {
        let photo = RgbaImage::from_fn(60, 60, |x, y| {
            Rgba([(x * 4) as u8, (y * 4) as u8, ((x * y) % 255) as u8, 255])
        });
        let empty = RgbaImage::from_pixel(60, 60, Rgba([240, 235, 228, 255]));

        assert!(cut_out(&photo).is_none());
        assert!(cut_out(&empty).is_none());
        assert!(cut_out(&RgbaImage::from_pixel(1, 1, Rgba([0, 0, 0, 255]))).is_none());
    }
}
