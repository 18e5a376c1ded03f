//! The real statement: run as the subject in the gateway's request transaction, compared with the explanation, and
//! rolled back.

mod compare;
mod run;
mod statement;

pub(crate) use compare::{Contents, Prediction, compare_with_truth};
pub(crate) use run::{Truth, run_sql, run_statement};
pub(crate) use statement::{Statement, build_statement};
