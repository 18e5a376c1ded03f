//! SQL for rows, generated from the catalog: the only place of this crate in which statements are composed.

mod cell;
mod filter;
mod list;
mod order;
mod row;
mod statement;
mod write;

pub(super) use cell::{
    CELL_BYTES, cell_expression, identity_expression, size_expression, whole_cell_expression,
};
pub(super) use filter::push_filters;
pub(super) use order::{Bound, OrderKey, order_of, push_order, range_after};
pub(super) use row::push_row;
pub(super) use statement::Statement;
pub(super) use write::{
    delete_statement, insert_statement, lock_statement, update_matching_statement, update_statement,
};
