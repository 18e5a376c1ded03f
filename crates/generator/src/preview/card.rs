//! The card of the built-in generator: the photo of a person beside the pictures of the items, on warm paper, with a line that
//! calls it a preview. Pure: encoded pictures in, a JPEG out.

use image::codecs::jpeg::JpegEncoder;
use image::imageops::{FilterType, overlay};
use image::{DynamicImage, ImageFormat, ImageResult, Rgb, RgbImage, RgbaImage};

/// Most items on a card; more would be too small to recognise.
pub(crate) const MAX_ITEMS: usize = 8;

const WIDTH: u32 = 1200;
const MARGIN: u32 = 48;
const GAP: u32 = 20;
const PHOTO_WIDTH: u32 = 700;
const PHOTO_HEIGHT: u32 = 1000;
/// Height of the tiles below the photo, when there are more items than fit beside it.
const ROW_HEIGHT: u32 = 280;
/// Height of the strip with the label, below all tiles.
const LABEL_HEIGHT: u32 = 104;
const ITEMS_BESIDE_PHOTO: usize = 3;
/// Space between the edge of a tile and its picture.
const TILE_PADDING: u32 = 18;
const CORNER_RADIUS: u32 = 18;
const JPEG_QUALITY: u8 = 88;

const PAPER: Rgb<u8> = Rgb([243, 237, 228]);
const TILE: Rgb<u8> = Rgb([252, 250, 246]);

/// "Preview. Your photo next to the items; nothing is worn here." in the type of the site, on transparent ground.
const LABEL: &[u8] = include_bytes!("../../assets/preview-label.png");

/// A rectangle on the card, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Where the photo and the items are.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) photo: Area,
    tiles: Vec<Area>,
    height: u32,
}

impl Layout {
    /// The layout for this many items: up to three beside the photo, the others in a row below.
    pub(crate) fn for_items(count: usize) -> Self {
        let photo = Area {
            x: MARGIN,
            y: MARGIN,
            width: PHOTO_WIDTH,
            height: PHOTO_HEIGHT,
        };
        let count = count.clamp(1, MAX_ITEMS);
        let beside = count.min(ITEMS_BESIDE_PHOTO);
        let below = count - beside;
        let left = MARGIN + PHOTO_WIDTH + GAP;
        let column = split_length(PHOTO_HEIGHT, beside).map(|(offset, height)| Area {
            x: left,
            y: MARGIN + offset,
            width: WIDTH - MARGIN - left,
            height,
        });
        let row_top = MARGIN + PHOTO_HEIGHT + GAP;
        let row = split_length(WIDTH - 2 * MARGIN, below).map(|(offset, width)| Area {
            x: MARGIN + offset,
            y: row_top,
            width,
            height: ROW_HEIGHT,
        });
        let bottom = if below > 0 {
            row_top + ROW_HEIGHT
        } else {
            MARGIN + PHOTO_HEIGHT
        };
        Self {
            photo,
            tiles: column.chain(row).collect(),
            height: bottom + LABEL_HEIGHT,
        }
    }

    /// The largest size in pixels of the picture of an item, counted from 0.
    pub(crate) fn item_picture_size(&self, item: usize) -> (u32, u32) {
        let tile = self.tiles.get(item).copied().unwrap_or(self.photo);
        (tile.width - 2 * TILE_PADDING, tile.height - 2 * TILE_PADDING)
    }
}

/// Splits a length into equal parts with gaps between them: their offsets and lengths.
fn split_length(length: u32, parts: usize) -> impl Iterator<Item = (u32, u32)> {
    // At most MAX_ITEMS parts, so the conversion cannot fail.
    let parts = u32::try_from(parts).unwrap_or_default();
    let part = (length + GAP) / parts.max(1) - GAP;
    (0..parts).map(move |index| (index * (part + GAP), part))
}

/// Composes a card of a photo and at least one item, which are encoded pictures not larger than their places.
///
/// # Errors
/// When a picture cannot be decoded.
pub(crate) fn compose_card(photo: &[u8], items: &[Vec<u8>]) -> ImageResult<Vec<u8>> {
    // Items that could not be read are left out, so there may be fewer than the pictures were rendered for.
    let layout = Layout::for_items(items.len());
    let mut card = DynamicImage::ImageRgb8(RgbImage::from_pixel(WIDTH, layout.height, PAPER));
    // A small photo is enlarged, so that the person is not smaller than the items.
    let photo = image::load_from_memory(photo)?
        .resize_to_fill(layout.photo.width, layout.photo.height, FilterType::CatmullRom)
        .to_rgba8();
    place_picture(&mut card, &photo, layout.photo);
    for (picture, tile) in items.iter().zip(&layout.tiles) {
        let paper = RgbImage::from_pixel(tile.width, tile.height, TILE);
        place_picture(&mut card, &DynamicImage::ImageRgb8(paper).to_rgba8(), *tile);
        let inner = Area {
            x: tile.x + TILE_PADDING,
            y: tile.y + TILE_PADDING,
            width: tile.width - 2 * TILE_PADDING,
            height: tile.height - 2 * TILE_PADDING,
        };
        place_centred(&mut card, &decode_to_fit(picture, inner)?, inner);
    }
    let label = image::load_from_memory_with_format(LABEL, ImageFormat::Png)?.to_rgba8();
    let top = layout.height - LABEL_HEIGHT + (LABEL_HEIGHT.saturating_sub(label.height())) / 2;
    overlay(&mut card, &label, MARGIN.into(), top.into());

    let mut bytes = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
    card.to_rgb8().write_with_encoder(encoder)?;
    Ok(bytes)
}

/// Decodes a picture, and makes it smaller when it does not fit.
fn decode_to_fit(picture: &[u8], area: Area) -> ImageResult<RgbaImage> {
    let picture = image::load_from_memory(picture)?;
    if picture.width() <= area.width && picture.height() <= area.height {
        return Ok(picture.to_rgba8());
    }
    Ok(picture
        .resize(area.width, area.height, FilterType::Triangle)
        .to_rgba8())
}

/// Draws a picture with rounded corners in the middle of its area.
fn place_picture(card: &mut DynamicImage, picture: &RgbaImage, area: Area) {
    let mut rounded = picture.clone();
    let (width, height) = rounded.dimensions();
    for (x, y, pixel) in rounded.enumerate_pixels_mut() {
        pixel.0[3] = pixel.0[3].min(corner_opacity(x, y, width, height));
    }
    place_centred(card, &rounded, area);
}

fn place_centred(card: &mut DynamicImage, picture: &RgbaImage, area: Area) {
    let x = area.x + area.width.saturating_sub(picture.width()) / 2;
    let y = area.y + area.height.saturating_sub(picture.height()) / 2;
    overlay(card, picture, x.into(), y.into());
}

/// The opacity of a pixel of a rectangle with rounded corners; pixels on the arc are half transparent, so that it looks
/// smooth.
fn corner_opacity(x: u32, y: u32, width: u32, height: u32) -> u8 {
    let from_edge = |at: u32, length: u32| at.min((length - 1).saturating_sub(at));
    let (dx, dy) = (
        CORNER_RADIUS.saturating_sub(from_edge(x, width)),
        CORNER_RADIUS.saturating_sub(from_edge(y, height)),
    );
    if dx == 0 || dy == 0 {
        return 255;
    }
    let distance = f64::from(dx * dx + dy * dy).sqrt();
    let inside = (f64::from(CORNER_RADIUS) + 0.5 - distance).clamp(0.0, 1.0);
    // Between 0 and 255, because `inside` is between 0 and 1.
    (inside * 255.0) as u8
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{GenericImageView, Rgba};

    use super::*;

    fn png(width: u32, height: u32, colour: [u8; 4]) -> Vec<u8> {
        let mut bytes = Vec::new();
        RgbaImage::from_pixel(width, height, Rgba(colour))
            .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
            .expect("encodes");
        bytes
    }

    #[test]
    fn tiles_of_every_layout_lie_apart_and_on_the_card() {
        for count in 1..=MAX_ITEMS {
            let layout = Layout::for_items(count);
            let areas: Vec<Area> = layout.tiles.iter().copied().chain([layout.photo]).collect();
            assert_eq!(layout.tiles.len(), count);
            for (index, area) in areas.iter().enumerate() {
                assert!(area.x + area.width <= WIDTH - MARGIN, "{count}: {area:?}");
                assert!(
                    area.y + area.height <= layout.height - LABEL_HEIGHT,
                    "{count}: {area:?}"
                );
                assert!(area.width > 150 && area.height > 150, "{count}: {area:?}");
                for other in &areas[index + 1..] {
                    let apart = area.x + area.width <= other.x
                        || other.x + other.width <= area.x
                        || area.y + area.height <= other.y
                        || other.y + other.height <= area.y;
                    assert!(apart, "{count}: {area:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn a_card_shows_the_photo_the_items_and_the_label() {
        let photo = png(70, 90, [200, 20, 20, 255]);
        let items = vec![
            png(100, 100, [20, 20, 200, 255]),
            png(2000, 900, [20, 160, 20, 255]),
        ];

        let card = compose_card(&photo, &items).expect("composes");

        let card = image::load_from_memory_with_format(&card, ImageFormat::Jpeg).expect("a JPEG");
        let layout = Layout::for_items(2);
        assert_eq!(card.dimensions(), (WIDTH, layout.height));
        let centre = |area: &Area| {
            card.get_pixel(area.x + area.width / 2, area.y + area.height / 2)
                .0
        };
        let is_near = |found: [u8; 4], wanted: [u8; 3]| {
            found
                .iter()
                .zip(wanted)
                .all(|(found, wanted)| found.abs_diff(wanted) < 12)
        };
        assert!(is_near(centre(&layout.photo), [200, 20, 20]));
        assert!(is_near(centre(&layout.tiles[0]), [20, 20, 200]));
        assert!(is_near(centre(&layout.tiles[1]), [20, 160, 20]));
        let strip = card.crop_imm(
            MARGIN,
            layout.height - LABEL_HEIGHT,
            WIDTH - 2 * MARGIN,
            LABEL_HEIGHT,
        );
        let dark = strip.pixels().filter(|(_, _, pixel)| pixel.0[0] < 120).count();
        assert!(dark > 500, "the label has {dark} dark pixels");
    }
}
