//! The binary `selvedge` from the inside: command line, configuration, wiring, static site.
//!
//! This crate knows all others and no other knows it. In come the arguments, the environment and a
//! project folder; out goes a running server (or a message that says what to do). It decides nothing that
//! a service decides: it reads configuration, starts PostgreSQL or connects to one, makes the shared
//! values (database, keys, mailer) once, and mounts each service under its prefix.

pub mod config;
