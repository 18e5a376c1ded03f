//! The project's database: an embedded cluster in development, an external one in production.

pub(crate) mod addition_changes;
pub(crate) mod additions;
mod catalog_locks;
pub(crate) mod client_program;
pub(crate) mod cluster_roles;
pub(crate) mod embedded;
pub(crate) mod extension_advice;
pub(crate) mod extension_packages;
pub(crate) mod external;
pub(crate) mod fresh;
mod guarded_databases;
pub(crate) mod harmful_settings;
pub(crate) mod home;
pub(crate) mod http_requests;
pub(crate) mod identity;
pub(crate) mod initialized;
pub(crate) mod local_logins;
pub(crate) mod objects_owner;
mod opened_databases;
pub(crate) mod own_database;
pub(crate) mod passwords;
pub(crate) mod people;
mod process_memory;
mod queues;
pub(crate) mod rebuild;
pub(crate) mod server_roles;
pub(crate) mod setting_size;
pub(crate) mod standby_passwords;
pub(crate) mod target;
pub(crate) mod unfinished_import;
pub(crate) mod unfinished_squash;
mod unreadable_texts;
mod vault_secrets;
mod version_note;

use selvedge_postgres::cluster::DEVELOPMENT_PASSWORD;
use selvedge_postgres::{CONSOLE_READERS, Login, Logins};
use tokio_postgres::Config;

/// Password of the roles of a cluster for development.
pub(crate) const EMBEDDED_PASSWORD: &str = DEVELOPMENT_PASSWORD;

/// Schemas of the platform and of its extensions.
pub(crate) const PLATFORM_SCHEMAS: [&str; 15] = [
    "auth",
    "cron",
    "extensions",
    "graphql",
    "graphql_public",
    "net",
    "pgbouncer",
    "pgmq",
    "realtime",
    "_realtime",
    "storage",
    "supabase_functions",
    "vault",
    "_selvedge",
    "selvedge_console",
];

/// The schema with the history of migrations.
pub(crate) const HISTORY_SCHEMA: &str = "supabase_migrations";

/// Every schema that no project has made.
pub(crate) fn platform_schemas() -> impl Iterator<Item = &'static str> {
    PLATFORM_SCHEMAS.into_iter().chain([HISTORY_SCHEMA])
}

/// The logins of the services, each with its own role, so that a fault in one cannot use the rights of another.
/// `login` makes the connection settings of one role.
pub(crate) fn service_logins(login: impl Fn(&str) -> Config) -> Logins {
    let logins = Logins::new(
        login("authenticator"),
        login("supabase_auth_admin"),
        login("supabase_storage_admin"),
    )
    .with_replication(login("supabase_replication_admin"))
    .with_login(Login::ConsoleReader, login(CONSOLE_READERS[0]))
    .with_login(Login::ConsoleAdmin, login("selvedge_console_operator"))
    .with_login(Login::ConsoleService, login("selvedge_console_service"));
    (0..)
        .zip(CONSOLE_READERS)
        .skip(1)
        .fold(logins, |logins, (number, role)| {
            logins.with_login(Login::ConsoleText(number), login(role))
        })
}
