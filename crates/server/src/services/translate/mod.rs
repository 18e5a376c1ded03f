//! Turns sections of the configuration into the structs that the services are made from, one file per service.

pub(super) mod auth;
pub(super) mod auth_channels;
mod auth_protection;
pub(super) mod auth_providers;
pub(super) mod caught_messages;
pub(super) mod console;
pub(super) mod functions;
pub(super) mod gateway;
pub(super) mod generator;
pub(super) mod jobs;
pub(super) mod mail;
pub(super) mod meta;
pub(super) mod native_functions;
pub(super) mod realtime;
pub(super) mod replicas;
pub(super) mod storage;
