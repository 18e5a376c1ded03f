//! The project's database: an embedded cluster in development, an external one in production.
//!
//! In: the configuration, and which database a command is to work on. Out: a running cluster ([`embedded`]) or a database elsewhere
//! ([`external`]) with the platform schema, the project's migrations and its seeds, a session on whichever of them is meant ([`target`]),
//! and what is known about it. What a command does there is left to the command.

pub mod additions;
pub mod capacity;
pub mod client_program;
pub mod consent;
pub mod dump_statements;
pub mod embedded;
mod extensions;
pub mod external;
pub mod fresh;
pub mod instance;
mod logins;
pub mod objects_owner;
pub mod objects_store;
mod queues;
pub mod rebuild;
mod state;
pub mod target;
mod whole_cluster;

pub use additions::addition_changes;
pub use embedded::{http_requests, own_database, setting_size};
pub use extensions::extension_packages;
pub use external::{passwords, standby_passwords};
pub use logins::{local_logins, people};
pub use state::{home, identity, initialized, unfinished_import, unfinished_squash};
pub use whole_cluster::{cluster_roles, harmful_settings, server_roles};

use selvedge_postgres::cluster::DEVELOPMENT_PASSWORD;
use selvedge_postgres::{CONSOLE_READERS, Login, Logins};
use tokio_postgres::Config;

/// Password of the roles of a cluster for development.
pub const EMBEDDED_PASSWORD: &str = DEVELOPMENT_PASSWORD;

/// Schemas of the platform and of its extensions.
pub const PLATFORM_SCHEMAS: [&str; 15] = [
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
pub const HISTORY_SCHEMA: &str = "supabase_migrations";

/// Every schema that no project has made.
pub fn platform_schemas() -> impl Iterator<Item = &'static str> {
    PLATFORM_SCHEMAS.into_iter().chain([HISTORY_SCHEMA])
}

/// The logins of the services, each with its own role, so that a fault in one cannot use the rights of another.
/// `login` makes the connection settings of one role.
pub fn service_logins(login: impl Fn(&str) -> Config) -> Logins {
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
