//! Reads rows: pages, counts and whole cells.

mod cell;
mod count;
mod cursor;
mod page;
mod statement;

pub(super) use cell::read_cell;
pub(super) use count::count_rows;
pub(super) use page::read_rows;
