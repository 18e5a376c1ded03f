//! The pictures that Lookbook draws: the card of a shared link ([`draw_card`]), and the sheet with the photo of a person
//! next to an outfit ([`draw_sheet`]).
//!
//! In: texts, and encoded pictures that fit their places. Out: a JPEG. Nothing is read and nothing kept: which pictures
//! may be shown, how many are drawn at a time and where the result is stored is left to the callers. The two fonts of the
//! site are in `assets/fonts`; signs that they lack are left out, and [`can_write`] says
//! whether letters are among these.

mod canvas;
mod card;
mod cut_out;
mod sheet;
mod text;

pub use card::{CARD_HEIGHT, CARD_WIDTH, CardTexts, can_write, card_picture_size, draw_card};
pub use image::ImageError;
pub use sheet::{MAX_ITEMS, SheetItem, SheetTexts, draw_sheet, item_picture_size, photo_size};
