//! The simulator and the access matrix on a real PostgreSQL.

mod access;
mod explain;
mod generated;
mod project;
mod writes;
