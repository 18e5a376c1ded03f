//! Runs the built binary as a user does at a terminal: real processes and a real embedded PostgreSQL.

mod backup;
mod budgets;
mod clone_paths;
mod clones;
mod consent;
mod console;
mod console_faults;
mod console_migrations;
mod console_project;
mod copied;
#[cfg(target_os = "linux")]
mod cut_off;
mod data_safety;
mod doctor;
mod fresh_reset;
#[cfg(target_os = "linux")]
mod hostile_clones;
mod import;
mod import_meanwhile;
mod killed;
mod lifecycle;
mod link;
mod listeners;
#[cfg(target_os = "linux")]
mod matrix;
#[cfg(target_os = "linux")]
mod memory;
mod migrations;
mod own_project;
mod packages;
mod pgtap;
mod plain_server;
mod platform_versions;
mod production;
mod projects;
mod queues;
mod realtime;
mod recovery;
mod refusals;
mod rest;
mod services;
mod squash;
mod sso;
mod stacks;
mod stock_names;
mod stored_files;
mod superuser;
mod support;
mod telemetry;
mod template;
mod tenants;
mod unfinished_squash;
mod vector;
