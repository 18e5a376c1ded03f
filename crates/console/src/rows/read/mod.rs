//! The endpoints that read rows: pages, counts, and values that are too long for a page.

mod cell;
mod count;
mod cursor;
mod page;
mod statement;

pub(super) use cell::read_cell;
pub(super) use count::count_rows;
pub(super) use page::read_rows;
pub(super) use statement::choose_columns;
