//! The Auth contract against a real PostgreSQL, over real HTTP. One module per part of the contract; names carry checklist ids.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall say where")]

mod admin;
mod app;
mod email_change;
mod errors;
mod identities;
mod identity_provider;
mod mail;
mod password;
mod pkce;
mod providers;
mod refresh;
mod signup;
mod update_user;
mod verify;
