//! What decides about access to one table, read from the database as it is now.

mod policy;
mod table;

pub(crate) use policy::{Command, Policy, PolicyFacts, load_policies};
pub(crate) use table::{Column, ColumnRight, Table, load_table};
