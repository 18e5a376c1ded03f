//! The binary as a person at a terminal meets it: real processes, a real embedded PostgreSQL.

mod lifecycle;
mod listeners;
mod migrations;
mod production;
mod recovery;
mod refusals;
mod rest;
mod services;
mod support;
