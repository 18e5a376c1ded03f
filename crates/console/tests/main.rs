//! The console over HTTP, on a real PostgreSQL. All tests of this crate are one program, because each further one would be linked
//! with the same libraries again.

mod access;
mod data;
mod policies;
mod support;
