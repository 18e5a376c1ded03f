//! Attacks on the console's door, by raw sockets: other hosts and pages, guessed and stolen sessions, lower levels.

mod auth;
mod database;
mod doors;
mod levels;
mod limits;
mod mail;
mod paths;
mod sessions;
mod snippets;
mod support;
mod waits;
