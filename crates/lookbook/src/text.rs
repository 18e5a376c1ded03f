//! Text in the two fonts of the site. They are from `@fontsource`, in static form, with their pairs of letters in a table `kern`.

use ab_glyph::{Font as _, FontRef, GlyphId, OutlinedGlyph, PxScale, ScaleFont as _, point};
use image::{Rgb, RgbImage};

use crate::canvas::blend;

/// Titles and names: a part for ASCII, and one for accented letters.
const SERIF: [&[u8]; 2] = [
    include_bytes!("../assets/fonts/instrument-serif-latin.ttf"),
    include_bytes!("../assets/fonts/instrument-serif-latin-ext.ttf"),
];
/// Everything else.
const SANS: [&[u8]; 2] = [
    include_bytes!("../assets/fonts/geist-latin.ttf"),
    include_bytes!("../assets/fonts/geist-latin-ext.ttf"),
];

/// Longest text that is set, in characters. Setting takes time that grows with the text, and no place has room for more.
const MAX_CHARS: usize = 300;

/// Fonts of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Font {
    Serif,
    Sans,
}

/// How a text looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextStyle {
    pub(crate) font: Font,
    /// Pixels of an em.
    pub(crate) size: f32,
    pub(crate) line_height: f32,
    pub(crate) color: Rgb<u8>,
    /// Lines after which it ends with an ellipsis; `None` for all that it needs.
    pub(crate) max_lines: Option<usize>,
}

/// The fonts, read.
pub(crate) struct Typesetter {
    serif: Vec<FontRef<'static>>,
    sans: Vec<FontRef<'static>>,
}

/// A letter of a line: its font, its glyph, and where it begins.
struct PlacedGlyph<'a> {
    font: &'a FontRef<'static>,
    id: GlyphId,
    left: f32,
}

impl Typesetter {
    pub(crate) fn new() -> Self {
        let read = |parts: [&'static [u8]; 2]| {
            parts
                .into_iter()
                .map(|part| FontRef::try_from_slice(part).expect("the fonts of this crate are valid"))
                .collect()
        };
        Self {
            serif: read(SERIF),
            sans: read(SANS),
        }
    }

    /// The height in pixels of a text that is set in this width.
    pub(crate) fn measure(&self, text: &str, style: TextStyle, width: u32) -> u32 {
        height_of(&self.break_lines(text, style, width), style)
    }

    /// Writes a text whose first line begins at this place, and returns its height in pixels.
    pub(crate) fn write(
        &self,
        canvas: &mut RgbImage,
        text: &str,
        style: TextStyle,
        (left, top): (u32, u32),
        width: u32,
    ) -> u32 {
        let lines = self.break_lines(text, style, width);
        let mut line_top = top as f32;
        for line in &lines {
            let (placed, _) = self.place_line(line, style);
            for glyph in placed {
                let scale = scale_of(glyph.font, style);
                let scaled = glyph.font.as_scaled(scale);
                let baseline = line_top + (style.line_height - scaled.height()) / 2.0 + scaled.ascent();
                let at = point(left as f32 + glyph.left, baseline.round());
                let glyph = glyph.id.with_scale_and_position(scale, at);
                if let Some(outline) = scaled.outline_glyph(glyph) {
                    draw(canvas, &outline, style.color);
                }
            }
            line_top += style.line_height;
        }
        height_of(&lines, style)
    }

    /// Whether the fonts have all letters and digits of a text. Other signs may be left out of it.
    pub(crate) fn has_letters_of(&self, text: &str) -> bool {
        let has = |fonts: &[FontRef<'static>], letter| fonts.iter().any(|font| font.glyph_id(letter).0 != 0);
        text.chars()
            .take(MAX_CHARS)
            .filter(|letter| letter.is_alphanumeric())
            .all(|letter| has(&self.serif, letter) && has(&self.sans, letter))
    }

    /// The glyphs of a line, and its width. Signs that the fonts lack are left out.
    fn place_line(&self, line: &str, style: TextStyle) -> (Vec<PlacedGlyph<'_>>, f32) {
        let fonts = match style.font {
            Font::Serif => &self.serif,
            Font::Sans => &self.sans,
        };
        let mut placed: Vec<PlacedGlyph<'_>> = Vec::new();
        let mut left = 0.0;
        for letter in line.chars() {
            let found = fonts
                .iter()
                .map(|font| (font, font.glyph_id(letter)))
                .find(|(_, id)| id.0 != 0);
            let Some((font, id)) = found else {
                continue;
            };
            let scaled = font.as_scaled(scale_of(font, style));
            if let Some(before) = placed.last()
                && std::ptr::eq(before.font, font)
            {
                left += scaled.kern(before.id, id);
            }
            placed.push(PlacedGlyph { font, id, left });
            left += scaled.h_advance(id);
        }
        (placed, left)
    }

    fn fits(&self, line: &str, style: TextStyle, width: u32) -> bool {
        self.place_line(line, style).1 <= width as f32
    }

    /// The text in lines of at most this width, the last of which ends with an ellipsis when there would be more.
    fn break_lines(&self, text: &str, style: TextStyle, width: u32) -> Vec<String> {
        let text: String = text.chars().take(MAX_CHARS).collect();
        let mut lines: Vec<String> = Vec::new();
        let mut line = String::new();
        for word in text
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty())
        {
            let longer = if line.is_empty() {
                word.to_owned()
            } else {
                format!("{line} {word}")
            };
            if self.fits(&longer, style, width) {
                line = longer;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line = self.break_word(word, style, width, &mut lines);
        }
        if !line.is_empty() {
            lines.push(line);
        }
        self.shorten(&mut lines, style, width);
        lines
    }

    /// Breaks a word that is wider than a line into full lines, and returns the rest.
    fn break_word(&self, word: &str, style: TextStyle, width: u32, lines: &mut Vec<String>) -> String {
        let mut line = String::new();
        for letter in word.chars() {
            line.push(letter);
            if !self.fits(&line, style, width) {
                line.pop();
                // A letter wider than a line would never fit, and has a line for itself.
                if !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(letter);
            }
        }
        line
    }

    /// Leaves out the lines beyond the most that there may be.
    fn shorten(&self, lines: &mut Vec<String>, style: TextStyle, width: u32) {
        let Some(most) = style.max_lines.filter(|most| lines.len() > *most) else {
            return;
        };
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while !last.is_empty() && !self.fits(&format!("{last}…"), style, width) {
                last.pop();
            }
            last.truncate(last.trim_end().len());
            last.push('…');
        }
    }
}

/// The scale at which an em of the font has the style's size; the library counts from the lowest to the highest letter.
fn scale_of(font: &FontRef<'_>, style: TextStyle) -> PxScale {
    let em = font.units_per_em().unwrap_or(1000.0);
    PxScale::from(style.size * font.height_unscaled() / em)
}

fn height_of(lines: &[String], style: TextStyle) -> u32 {
    // Not negative, and at most some thousand pixels.
    (lines.len() as f32 * style.line_height).ceil() as u32
}

fn draw(canvas: &mut RgbImage, outline: &OutlinedGlyph, color: Rgb<u8>) {
    let bounds = outline.px_bounds();
    // Places on a canvas, far from the limits of the type.
    let (left, top) = (bounds.min.x as i64, bounds.min.y as i64);
    outline.draw(|x, y, coverage| {
        // Between 0 and 255, because coverage is between 0 and 1.
        let alpha = (coverage.clamp(0.0, 1.0) * 255.0) as u8;
        blend(canvas, (left + i64::from(x), top + i64::from(y)), color, alpha);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(font: Font, max_lines: usize) -> TextStyle {
        TextStyle {
            font,
            size: 40.0,
            line_height: 48.0,
            color: Rgb([0, 0, 0]),
            max_lines: Some(max_lines),
        }
    }

    fn count_dark_pixels(canvas: &RgbImage) -> usize {
        canvas.pixels().filter(|pixel| pixel.0[0] < 100).count()
    }

    #[test]
    fn letters_that_the_fonts_lack_are_noticed_and_signs_are_not() {
        let typesetter = Typesetter::new();

        for text in ["", "Café № 2 — ☕", "Žluťoučký Ø"] {
            assert!(typesetter.has_letters_of(text), "{text}");
        }
        for text in ["Пальто", "Camel 山", "سترة"] {
            assert!(!typesetter.has_letters_of(text), "{text}");
        }
    }

    #[test]
    fn a_long_text_ends_within_its_lines_and_its_width() {
        let typesetter = Typesetter::new();
        for text in [
            "a long name ".repeat(100),
            "w".repeat(5000),
            "é\u{202e}Ž ".repeat(400),
        ] {
            let mut canvas = RgbImage::from_pixel(400, 400, Rgb([255, 255, 255]));

            let height = typesetter.write(&mut canvas, &text, style(Font::Serif, 3), (50, 20), 300);

            assert_eq!(height, 144);
            let outside = canvas
                .enumerate_pixels()
                .filter(|(x, y, pixel)| (*x < 45 || *x > 355 || *y > 175) && pixel.0[0] < 250)
                .count();
            assert_eq!(outside, 0, "{text}");
        }
    }

    #[test]
    fn lines_break_between_words_and_end_with_an_ellipsis() {
        let typesetter = Typesetter::new();

        let lines =
            typesetter.break_lines("Camel\r\n\tHour  over burgundy\0 wool", style(Font::Sans, 2), 260);

        assert_eq!(lines[0], "Camel Hour");
        assert!(lines.len() == 2 && lines[1].ends_with('…'), "{lines:?}");
        assert!(
            typesetter
                .break_lines(" \n", style(Font::Sans, 2), 260)
                .is_empty()
        );
    }

    #[test]
    fn both_fonts_write_accented_letters_and_leave_out_what_they_lack() {
        let typesetter = Typesetter::new();
        for font in [Font::Serif, Font::Sans] {
            let drawn = |text| {
                let mut canvas = RgbImage::from_pixel(300, 100, Rgb([255, 255, 255]));
                typesetter.write(&mut canvas, text, style(font, 1), (10, 10), 280);
                count_dark_pixels(&canvas)
            };
            assert!(drawn("Chloe Z") > 200, "{font:?}");
            assert!(
                drawn("Chloé Ž") > drawn("Chloe Z"),
                "{font:?}: an accent adds pixels"
            );
            assert_eq!(drawn("衣服"), 0, "{font:?}");
        }
    }

    #[test]
    fn letters_that_belong_closer_together_are() {
        let typesetter = Typesetter::new();
        let width = |text| typesetter.place_line(text, style(Font::Serif, 1)).1;

        assert!(width("To") < width("T") + width("o") - 1.0);
    }
}
