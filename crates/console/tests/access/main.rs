//! Attacks on the console's door, by raw sockets: other hosts and pages, guessed and stolen sessions, lower levels.

mod database;
mod doors;
mod sessions;
mod support;
