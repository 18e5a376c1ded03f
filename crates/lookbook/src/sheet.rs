//! The sheet of an outfit next to a person, as a page of a magazine: the photo fills one side, title and items lie on paper
//! at the other, and a note says what the sheet is. Pure: texts and encoded pictures in, a JPEG out.

use image::{ImageResult, Rgb, RgbImage, RgbaImage};

use crate::canvas::{Area, INK, PAPER, SOFT_INK, blend, decode, encode, fill, fit, lay};
use crate::cut_out::cut_out;
use crate::text::{Font, TextStyle, Typesetter};

/// Most items on a sheet; more would be too small to recognise.
pub const MAX_ITEMS: usize = 8;

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 1500;
const PHOTO: Area = Area {
    x: 0,
    y: 0,
    width: 600,
    height: HEIGHT,
};
const MARGIN: u32 = 56;
/// The column of texts and items.
const COLUMN_LEFT: u32 = PHOTO.width + MARGIN;
const COLUMN_WIDTH: u32 = WIDTH - COLUMN_LEFT - MARGIN;
const GAP: u32 = 24;
/// The part of the column in which the items lie.
const ITEMS_TOP: u32 = 372;
const ITEMS_BOTTOM: u32 = 1308;
/// Height of the line with the name of an item, below its picture.
const LABEL_HEIGHT: u32 = 46;
/// Items in one column; more lie in two.
const ITEMS_IN_ONE_COLUMN: usize = 2;

/// What is written on a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetTexts {
    /// Name of the outfit; may be empty.
    pub title: String,
    /// What the sheet is, in a sentence or two.
    pub note: String,
}

/// An item on a sheet.
#[derive(Debug, Clone)]
pub struct SheetItem {
    /// Its encoded picture.
    pub picture: Vec<u8>,
    /// Its name, below the picture; may be empty.
    pub label: String,
}

/// The size in pixels that the photo fills.
#[must_use]
pub fn photo_size() -> (u32, u32) {
    (PHOTO.width, PHOTO.height)
}

/// The box in pixels for the picture of each of `count` items.
#[must_use]
pub fn item_picture_size(count: usize) -> (u32, u32) {
    let place = item_places(count).next().unwrap_or(PHOTO);
    (place.width, place.height - LABEL_HEIGHT)
}

/// Draws a sheet of a photo and at least one item.
///
/// # Errors
/// When a picture cannot be decoded.
pub fn draw_sheet(texts: &SheetTexts, photo: &[u8], items: &[SheetItem]) -> ImageResult<Vec<u8>> {
    let mut sheet = RgbImage::from_pixel(WIDTH, HEIGHT, PAPER);
    // A small photo is enlarged, so that the person is not smaller than the items.
    fill(&mut sheet, &decode(photo)?, PHOTO);
    let typesetter = Typesetter::new();
    write_title(&mut sheet, &typesetter, &texts.title);
    for (item, place) in items.iter().zip(item_places(items.len())) {
        place_item(&mut sheet, &typesetter, item, place)?;
    }
    let note = style(Font::Sans, 24.0, 34.0, SOFT_INK, 4);
    let height = typesetter.measure(&texts.note, note, COLUMN_WIDTH);
    let top = HEIGHT.saturating_sub(MARGIN + height);
    draw_rule(&mut sheet, top.saturating_sub(28));
    typesetter.write(&mut sheet, &texts.note, note, (COLUMN_LEFT, top), COLUMN_WIDTH);
    encode(&sheet)
}

fn style(font: Font, size: f32, line_height: f32, color: Rgb<u8>, max_lines: usize) -> TextStyle {
    TextStyle {
        font,
        size,
        line_height,
        color,
        max_lines: Some(max_lines),
    }
}

fn write_title(sheet: &mut RgbImage, typesetter: &Typesetter, title: &str) {
    let large = style(Font::Serif, 88.0, 92.0, INK, 3);
    let small = style(Font::Serif, 66.0, 72.0, INK, 4);
    let whole = TextStyle {
        max_lines: None,
        ..large
    };
    let is_short = typesetter.measure(title, whole, COLUMN_WIDTH) <= 3 * 92 + 1;
    let style = if is_short { large } else { small };
    typesetter.write(sheet, title, style, (COLUMN_LEFT, MARGIN), COLUMN_WIDTH);
}

/// Where each of `count` items lies: below each other, from three on in two columns.
fn item_places(count: usize) -> impl Iterator<Item = Area> {
    let count = count.clamp(1, MAX_ITEMS);
    let columns: usize = if count > ITEMS_IN_ONE_COLUMN { 2 } else { 1 };
    let rows = count.div_ceil(columns);
    let part = |length: u32, parts: usize| {
        // At most MAX_ITEMS parts, so the conversion cannot fail.
        let parts = u32::try_from(parts).unwrap_or(1);
        (length + GAP) / parts - GAP
    };
    let (width, height) = (part(COLUMN_WIDTH, columns), part(ITEMS_BOTTOM - ITEMS_TOP, rows));
    (0..count).map(move |index| {
        let (column, row) = (index % columns, index / columns);
        // The last of an odd number has its row for itself.
        let is_alone = columns == 2 && index + 1 == count && count % 2 == 1;
        let at = |place: usize, length: u32| u32::try_from(place).unwrap_or(0) * (length + GAP);
        Area {
            x: COLUMN_LEFT
                + if is_alone {
                    (COLUMN_WIDTH - width) / 2
                } else {
                    at(column, width)
                },
            y: ITEMS_TOP + at(row, height),
            width,
            height,
        }
    })
}

/// Lays an item into its place with its name below it: cut out where its background is plain, else as a card.
fn place_item(
    sheet: &mut RgbImage,
    typesetter: &Typesetter,
    item: &SheetItem,
    place: Area,
) -> ImageResult<()> {
    let size = (place.width, place.height - LABEL_HEIGHT);
    let picture = decode(&item.picture)?;
    let (picture, is_cut) = match cut_out(&picture) {
        Some(cut) => (cut, true),
        None => (picture, false),
    };
    let picture = fit(picture, size);
    let left = place.x + size.0.saturating_sub(picture.width()) / 2;
    let top = place.y + size.1.saturating_sub(picture.height()) / 2;
    if is_cut {
        draw_shadow(sheet, &picture, (left, top));
    }
    lay(sheet, &picture, (left, top));
    let label = style(Font::Sans, 20.0, 28.0, SOFT_INK, 1);
    let below = place.y + place.height - LABEL_HEIGHT + 14;
    typesetter.write(sheet, &item.label, label, (place.x, below), place.width);
    Ok(())
}

/// Darkens the paper below a cut-out, softly because it is laid down several times.
fn draw_shadow(sheet: &mut RgbImage, picture: &RgbaImage, (left, top): (u32, u32)) {
    for step in 1_u32..=6 {
        for (x, y, pixel) in picture.enumerate_pixels() {
            let place = (
                i64::from(left + x) + i64::from(step) / 2,
                i64::from(top + y) + 3 * i64::from(step),
            );
            blend(sheet, place, Rgb([70, 55, 40]), pixel.0[3] / 18);
        }
    }
}

fn draw_rule(sheet: &mut RgbImage, y: u32) {
    for x in COLUMN_LEFT..COLUMN_LEFT + COLUMN_WIDTH {
        blend(sheet, (i64::from(x), i64::from(y)), SOFT_INK, 110);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{GenericImageView, ImageFormat, Rgba};

    use super::*;

    fn png(width: u32, height: u32, color: [u8; 4]) -> Vec<u8> {
        let mut bytes = Vec::new();
        RgbaImage::from_pixel(width, height, Rgba(color))
            .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
            .expect("encodes");
        bytes
    }

    #[test]
    fn items_of_every_number_lie_apart_beside_the_photo() {
        for count in 1..=MAX_ITEMS {
            let places: Vec<Area> = item_places(count).collect();
            assert_eq!(places.len(), count);
            for (index, place) in places.iter().enumerate() {
                assert!(
                    place.x >= COLUMN_LEFT && place.x + place.width <= WIDTH - MARGIN,
                    "{place:?}"
                );
                assert!(
                    place.y >= ITEMS_TOP && place.y + place.height <= ITEMS_BOTTOM,
                    "{place:?}"
                );
                assert!(
                    place.width > 200 && place.height - LABEL_HEIGHT > 150,
                    "{count}: {place:?}"
                );
                for other in &places[index + 1..] {
                    let apart = place.x + place.width <= other.x
                        || other.x + other.width <= place.x
                        || place.y + place.height <= other.y
                        || other.y + other.height <= place.y;
                    assert!(apart, "{count}: {place:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn a_sheet_shows_the_photo_the_items_the_title_and_the_note() {
        let texts = SheetTexts {
            title: "Camel Hour".into(),
            note: "Preview. Your photo next to the items. It does not show you wearing them.".into(),
        };
        let items = [
            SheetItem {
                picture: png(300, 300, [20, 20, 200, 255]),
                label: "Wool coat".into(),
            },
            SheetItem {
                picture: png(2000, 900, [20, 160, 20, 255]),
                label: String::new(),
            },
        ];

        let sheet = draw_sheet(&texts, &png(70, 90, [200, 20, 20, 255]), &items).expect("draws");

        let sheet = image::load_from_memory_with_format(&sheet, ImageFormat::Jpeg).expect("a JPEG");
        assert_eq!(sheet.dimensions(), (WIDTH, HEIGHT));
        let places: Vec<Area> = item_places(2).collect();
        let is_near = |x: u32, y: u32, wanted: [u8; 3]| {
            let found = sheet.get_pixel(x, y).0;
            found
                .iter()
                .zip(wanted)
                .all(|(found, wanted)| found.abs_diff(wanted) < 14)
        };
        assert!(is_near(5, 5, [200, 20, 20]) && is_near(590, 1490, [200, 20, 20]));
        let middle = |place: &Area| {
            (
                place.x + place.width / 2,
                place.y + (place.height - LABEL_HEIGHT) / 2,
            )
        };
        let (first, second) = (middle(&places[0]), middle(&places[1]));
        assert!(is_near(first.0, first.1, [20, 20, 200]) && is_near(second.0, second.1, [20, 160, 20]));
        let dark = |y: u32, height: u32| {
            let part = sheet.crop_imm(COLUMN_LEFT, y, COLUMN_WIDTH, height);
            part.pixels().filter(|(_, _, pixel)| pixel.0[0] < 140).count()
        };
        assert!(dark(MARGIN, 120) > 1000, "the title");
        assert!(dark(1380, 100) > 500, "the note");
        assert!(
            dark(ITEMS_BOTTOM - LABEL_HEIGHT, LABEL_HEIGHT) < 50,
            "an item without a name"
        );
    }

    #[test]
    fn long_titles_end_above_the_items() {
        let texts = SheetTexts {
            title: "a name without an end ".repeat(50),
            note: "w".repeat(500),
        };
        let items = [SheetItem {
            picture: png(40, 40, [20, 20, 200, 255]),
            label: "long ".repeat(100),
        }];

        let sheet = draw_sheet(&texts, &png(70, 90, [200, 20, 20, 255]), &items).expect("draws");

        let sheet = image::load_from_memory(&sheet).expect("a picture");
        let gap = sheet.crop_imm(COLUMN_LEFT, ITEMS_TOP - 20, COLUMN_WIDTH, 20);
        assert_eq!(gap.pixels().filter(|(_, _, pixel)| pixel.0[0] < 140).count(), 0);
    }
}
