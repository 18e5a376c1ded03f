//! The card of a shared link: the whole picture at the right, name, creator and wordmark beside it on the picture's own
//! paper. Pure: texts and encoded pictures in, a JPEG out.

use image::{ImageResult, Rgb, RgbImage, RgbaImage};

use crate::canvas::{Area, INK, PAPER, SOFT_INK, decode, edge_color, encode, fit, lay};
use crate::text::{Font, TextStyle, Typesetter};

/// Width of a card, the one that messengers ask for.
pub const CARD_WIDTH: u32 = 1200;
/// Height of a card.
pub const CARD_HEIGHT: u32 = 630;

/// Width of the pictures: an outfit's picture of 4:5 fills the card's height with it.
const PICTURES_WIDTH: u32 = 504;
/// From this many pictures on, four are shown.
const GRID: usize = 4;
const MARGIN: u32 = 64;
const TEXT_WIDTH: u32 = CARD_WIDTH - PICTURES_WIDTH - 2 * MARGIN;
/// Sizes of the heading; the largest one in which it needs no more lines than it may have.
const HEADING_SIZES: [f32; 3] = [96.0, 76.0, 60.0];
const HEADING_LINES: usize = 3;

/// What is written on a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardTexts {
    /// Name of the outfit, the item or the person.
    pub heading: String,
    /// What stands below it, such as the creator, in two lines at most; may be empty.
    pub line: String,
    /// The name of the site.
    pub wordmark: String,
}

/// Whether the fonts have all letters of a text. Without some of them a name would say something else.
#[must_use]
pub fn can_write(text: &str) -> bool {
    Typesetter::new().has_letters_of(text)
}

/// The box in pixels for each of `count` pictures.
#[must_use]
pub fn card_picture_size(count: usize) -> (u32, u32) {
    if count < GRID {
        (PICTURES_WIDTH, CARD_HEIGHT)
    } else {
        (PICTURES_WIDTH / 2, CARD_HEIGHT / 2)
    }
}

/// Draws a card. Of fewer than four pictures the first is shown, whole; of more the first four.
///
/// # Errors
/// When a picture cannot be decoded.
pub fn draw_card(texts: &CardTexts, pictures: &[Vec<u8>]) -> ImageResult<Vec<u8>> {
    let size = card_picture_size(pictures.len());
    let shown = if pictures.len() < GRID { 1 } else { GRID };
    let pictures: Vec<RgbaImage> = pictures
        .iter()
        .take(shown)
        .map(|picture| Ok(fit(decode(picture)?, size)))
        .collect::<ImageResult<_>>()?;
    // Where there are four papers, the card has the site's.
    let paper = match &pictures[..] {
        [picture] => edge_color(picture),
        _ => PAPER,
    };
    let mut card = RgbImage::from_pixel(CARD_WIDTH, CARD_HEIGHT, paper);
    for (picture, place) in pictures.iter().zip(places(size)) {
        place_picture(&mut card, picture, place);
    }
    write_texts(&mut card, texts, paper);
    encode(&card)
}

/// The places of the pictures, from the upper left one to the lower right one.
fn places((width, height): (u32, u32)) -> impl Iterator<Item = Area> {
    let left = CARD_WIDTH - PICTURES_WIDTH;
    let (across, down) = (PICTURES_WIDTH / width, CARD_HEIGHT / height);
    (0..down).flat_map(move |row| {
        (0..across).map(move |column| Area {
            x: left + column * width,
            y: row * height,
            width,
            height,
        })
    })
}

/// Lays a picture into the middle of its place, on its own paper.
fn place_picture(card: &mut RgbImage, picture: &RgbaImage, place: Area) {
    let Rgb([red, green, blue]) = edge_color(picture);
    let ground = RgbaImage::from_pixel(place.width, place.height, image::Rgba([red, green, blue, 255]));
    lay(card, &ground, (place.x, place.y));
    let left = place.x + place.width.saturating_sub(picture.width()) / 2;
    let top = place.y + place.height.saturating_sub(picture.height()) / 2;
    lay(card, picture, (left, top));
}

fn write_texts(card: &mut RgbImage, texts: &CardTexts, paper: Rgb<u8>) {
    let (ink, soft_ink) = inks_on(paper);
    let typesetter = Typesetter::new();
    let style = |font, size, color, max_lines| TextStyle {
        font,
        size,
        line_height: size * 1.08,
        color,
        max_lines: Some(max_lines),
    };
    let wordmark = style(Font::Serif, 44.0, ink, 1);
    typesetter.write(card, &texts.wordmark, wordmark, (MARGIN, MARGIN - 8), TEXT_WIDTH);

    let heading = HEADING_SIZES
        .map(|size| style(Font::Serif, size, ink, HEADING_LINES))
        .into_iter()
        .find(|style| {
            let whole = TextStyle {
                max_lines: None,
                ..*style
            };
            let height = typesetter.measure(&texts.heading, whole, TEXT_WIDTH);
            f64::from(height) <= f64::from(style.line_height) * HEADING_LINES as f64 + 1.0
        })
        .unwrap_or(style(Font::Serif, 60.0, ink, HEADING_LINES));
    let line = style(Font::Sans, 30.0, soft_ink, 2);
    let heading_height = typesetter.measure(&texts.heading, heading, TEXT_WIDTH);
    let line_height = match texts.line.is_empty() {
        true => 0,
        false => 20 + typesetter.measure(&texts.line, line, TEXT_WIDTH),
    };
    let top = (CARD_HEIGHT - MARGIN).saturating_sub(heading_height + line_height);
    typesetter.write(card, &texts.heading, heading, (MARGIN, top), TEXT_WIDTH);
    if !texts.line.is_empty() {
        let below = top + heading_height + 20;
        typesetter.write(card, &texts.line, line, (MARGIN, below), TEXT_WIDTH);
    }
}

/// The colors of texts that can be read on this paper.
fn inks_on(Rgb([red, green, blue]): Rgb<u8>) -> (Rgb<u8>, Rgb<u8>) {
    let luminance = u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114;
    if luminance > 130_000 {
        (INK, if luminance > 185_000 { SOFT_INK } else { INK })
    } else {
        (PAPER, PAPER)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, GenericImageView, ImageFormat, Rgba};

    use super::*;

    fn texts() -> CardTexts {
        CardTexts {
            heading: "Camel Hour".into(),
            line: "by Mira Castell".into(),
            wordmark: "Lookbook".into(),
        }
    }

    /// A picture with a frame in another color at its very border.
    fn framed(width: u32, height: u32, color: [u8; 4]) -> Vec<u8> {
        let frame = width.min(height) / 12;
        let picture = RgbaImage::from_fn(width, height, |x, y| {
            let is_frame = x < frame || y < frame || x >= width - frame || y >= height - frame;
            Rgba(if is_frame { [230, 220, 205, 255] } else { color })
        });
        let mut bytes = Vec::new();
        picture
            .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
            .expect("encodes");
        bytes
    }

    fn draw(texts: &CardTexts, pictures: &[Vec<u8>]) -> DynamicImage {
        let card = draw_card(texts, pictures).expect("draws");
        let card = image::load_from_memory_with_format(&card, ImageFormat::Jpeg).expect("a JPEG");
        assert_eq!(card.dimensions(), (CARD_WIDTH, CARD_HEIGHT));
        card
    }

    fn count_dark(card: &DynamicImage, area: Area) -> usize {
        let part = card.crop_imm(area.x, area.y, area.width, area.height);
        part.pixels()
            .filter(|(_, _, pixel)| pixel.0[..3].iter().all(|channel| *channel < 110))
            .count()
    }

    fn is_near(found: Rgba<u8>, wanted: [u8; 3]) -> bool {
        found
            .0
            .iter()
            .zip(wanted)
            .all(|(found, wanted)| found.abs_diff(wanted) < 14)
    }

    #[test]
    fn an_outfit_is_shown_whole_beside_its_name_creator_and_wordmark() {
        // Each corner has its own color: with one of them cut off, the picture would not be whole.
        let corners = [[200, 20, 20], [20, 160, 20], [20, 20, 200], [160, 20, 160]];
        let picture = RgbaImage::from_fn(1200, 1500, |x, y| {
            let corner = usize::from(x > 600) + 2 * usize::from(y > 750);
            let [red, green, blue] = corners[corner];
            Rgba([red, green, blue, 255])
        });
        let mut bytes = Vec::new();
        picture
            .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
            .expect("encodes");

        let card = draw(&texts(), &[bytes]);

        for (index, corner) in corners.into_iter().enumerate() {
            let x = if index % 2 == 0 { 710 } else { 1186 };
            let y = if index < 2 { 14 } else { 616 };
            assert!(
                is_near(card.get_pixel(x, y), corner),
                "{:?}",
                card.get_pixel(x, y)
            );
        }
    }

    #[test]
    fn texts_are_written_where_they_belong_and_long_ones_stay_on_the_card() {
        let part = |y, height| Area {
            x: MARGIN,
            y,
            width: TEXT_WIDTH,
            height,
        };
        let pictures = [framed(480, 600, [120, 90, 60, 255])];
        let short = draw(&texts(), &pictures);
        assert!(count_dark(&short, part(40, 80)) > 300, "the wordmark");
        assert!(count_dark(&short, part(380, 200)) > 1500, "the name");

        let long = CardTexts {
            heading: "An outfit with a very long name that nobody would read ".repeat(4),
            line: "by somebody whose name is longer than any line of a card could ever be".repeat(2),
            ..texts()
        };
        let long = draw(&long, &pictures);
        let gap = Area {
            x: MARGIN + TEXT_WIDTH + 8,
            y: 0,
            width: MARGIN - 16,
            height: CARD_HEIGHT,
        };
        assert_eq!(count_dark(&long, gap), 0, "beside the texts");
        let bottom = Area {
            x: 0,
            y: CARD_HEIGHT - 40,
            width: TEXT_WIDTH,
            height: 40,
        };
        assert_eq!(count_dark(&long, bottom), 0, "below the texts");
    }

    #[test]
    fn four_pictures_share_the_place_and_none_leaves_the_paper() {
        let colors = [
            [200, 20, 20, 255],
            [20, 160, 20, 255],
            [20, 20, 200, 255],
            [160, 20, 160, 255],
        ];
        let pictures: Vec<_> = colors
            .iter()
            .map(|color| framed(240, 300, *color))
            .chain([framed(240, 300, [0, 0, 0, 255])])
            .collect();

        let card = draw(&texts(), &pictures);

        for (index, [red, green, blue, _]) in colors.into_iter().enumerate() {
            let x = 696 + 126 + if index % 2 == 0 { 0 } else { 252 };
            let y = 157 + if index < 2 { 0 } else { 315 };
            assert!(is_near(card.get_pixel(x, y), [red, green, blue]), "{index}");
        }
        let empty = draw(&texts(), &[]);
        assert!(is_near(empty.get_pixel(950, 300), PAPER.0));
    }

    #[test]
    fn texts_on_dark_paper_are_light() {
        let mut bytes = Vec::new();
        RgbaImage::from_pixel(400, 500, Rgba([24, 24, 30, 255]))
            .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
            .expect("encodes");

        let card = draw(&texts(), &[bytes]);

        let part = card.crop_imm(MARGIN, 380, TEXT_WIDTH, 200);
        let light = part.pixels().filter(|(_, _, pixel)| pixel.0[0] > 200).count();
        assert!(light > 1500, "{light}");
    }
}
