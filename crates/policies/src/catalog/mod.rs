//! Reads from the database what decides about access to one table: its privileges, row security and policies.

mod policy;
mod table;

pub(crate) use policy::{Command, Policy, PolicyFacts, load_policies};
pub(crate) use table::{Column, ColumnRight, Table, load_table};
