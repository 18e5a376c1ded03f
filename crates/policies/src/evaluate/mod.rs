//! Runs the expressions of policies as the subject, on rows that were read as the owner.
//!
//! The rows are handed over as an array of the table's row type, so that no right to the table is needed and no policy
//! of the table itself applies, while other tables that an expression reads are under the subject's own rights.

mod expression;
mod operands;
mod owner;
mod rows;

pub(crate) use expression::{Evaluated, Expression, Operand, describe_error, evaluate_expressions};
pub(crate) use owner::evaluate_as_parsed_by_owner;
pub(crate) use rows::{StoredRow, build_new_row, read_rows, row_literal};
