//! Database changes from a real PostgreSQL: which events each channel gets.

mod changed_since;
mod citus;
mod delivery;
mod failed_questions;
mod faults;
mod generated;
mod hidden_filters;
mod policies;
mod rights;
mod schema_changes;
mod strangers;
mod support;
mod values;
