//! The sections of `config.toml`, one struct each, with meaning, unit and default of every key.

pub(crate) mod api;
pub(crate) mod auth;
pub(crate) mod console;
pub(crate) mod database;
pub(crate) mod selvedge;
pub(crate) mod services;
pub(crate) mod storage;
pub(crate) mod storage_environment;
