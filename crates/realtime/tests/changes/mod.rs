//! Database changes from a real PostgreSQL: which events each channel gets.

mod citus;
mod delivery;
mod faults;
mod policies;
mod rights;
mod schema_changes;
mod support;
mod values;
