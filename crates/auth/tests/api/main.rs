//! The Auth contract against a real PostgreSQL, over real HTTP. One module per part of the contract; names carry checklist ids.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall say where")]

mod admin;
mod app;
mod audit;
mod custom_providers;
mod database;
mod details;
mod dump;
mod email_change;
mod errors;
mod hooks;
mod id_tokens;
mod identities;
mod identity_provider;
mod mail;
mod mfa;
mod named_providers;
mod oauth_clients;
mod oauth_server;
mod passkeys;
mod password;
mod phone;
mod pkce;
mod policies;
mod protection;
mod providers;
mod receiver;
mod refresh;
mod sessions;
mod signup;
mod sso;
mod update_user;
mod verify;
mod web3;
