//! Brings a database to the shape that a project needs: the platform schema first (`sql/platform`, compiled into the
//! binary), then the project's `roles.sql`, migrations and seeds (gateway.md §8).
//!
//! Splitting, ordering and the comparison with the history are pure and tested without a database (`split`, `files`,
//! `extension`); `run`, `platform`, `project` and `seed` hold the I/O. The server decides when to call these functions.

mod error;
mod extension;
mod files;
mod lexer;
mod passwords;
mod platform;
mod project;
mod run;
mod seed;
mod shipped;
mod split;

pub use error::{HistoryConflict, MigrateError, StatementFailure};
pub use files::{DiscoveredMigrations, Migration, create_migration, discover_migrations, pending_migrations};
pub(crate) use passwords::scram_verifier;
pub use passwords::{RolePasswords, set_role_passwords};
#[cfg(any(test, feature = "testing"))]
pub(crate) use platform::digest as platform_digest;
pub use platform::{
    PlatformReport, apply as apply_platform, is_applied as is_platform_applied, set_auto_expose_new_tables,
};
pub use project::{MigrationState, MigrationStatus, apply_pending, apply_roles, list_migrations};
pub use seed::{SeedFile, SeedOutcome, apply_seeds, find_seeds};
pub use shipped::set_vault_key_file;
pub use split::{SplitError, Statement, split_statements};
