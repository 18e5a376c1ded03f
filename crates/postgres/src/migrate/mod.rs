//! Brings a database to the shape that a project needs: the platform schema first (`sql/platform`, compiled into the
//! binary), then the project's `roles.sql`, migrations and seeds (gateway.md §8).
//!
//! Splitting, ordering and the comparison with the history are pure and tested without a database (`split`, `files`), as
//! are the parsers of statements that need more rights than `postgres` has (`extension`, `superuser_statement`,
//! `do_block`); `run`, `platform`, `project`, `seed` and `statement_plan` hold the I/O. The server decides when to call these
//! functions.

mod added_objects;
mod attached_code;
mod auto_expose;
mod change_statements;
mod clear;
mod database_state;
mod dblink_grant;
mod do_block;
mod draft_file;
mod error;
mod extension;
mod extension_guard;
mod external_reset;
mod file_names;
mod file_roles;
mod files;
mod internal_lock;

pub(crate) mod lexer;
mod memberships;
mod migration_file;
mod missing_extension;
mod ownership;
mod passwords;
mod platform;
mod privileges;
mod project;
mod readable_passwords;
mod rebuild_check;
mod repair;
mod run;
mod script_parts;
mod seed;
mod shipped;
mod shipped_functions;
mod slot_functions;
mod split;
mod squash_journal;
mod statement_plan;
mod statement_reader;
mod superuser_statement;
mod tenants;
mod transaction_control;

pub use auto_expose::{apply_auto_expose, record_auto_expose, reset_auto_expose, set_auto_expose_new_tables};
pub use clear::{
    begin_clear_project, check_project_unlocked, clear_project, drop_project_roles, explain_emptied,
    is_platform_role,
};
pub use database_state::DatabaseState;
pub use draft_file::DraftFile;
pub use error::{HistoryConflict, MigrateError, MissingExtension, StatementFailure};
pub use extension_guard::ExtensionGuard;
pub use external_reset::reset_external;
pub use file_names::{replace_file, write_new_file};
pub use file_roles::{list_grantable_file_roles, release_file_roles, reserve_file_roles};
pub use files::{
    DiscoveredMigrations, create_migration, discover_files, discover_migrations, pending_migrations,
};
pub use internal_lock::{TenantsRun, claim_import, release_import, release_tenants};
pub use memberships::{TakenMembership, list_taken_memberships, take_back_memberships};
pub use migration_file::Migration;
pub(crate) use migration_file::read_file;
pub(crate) use missing_extension::is_needed_extension;
pub use missing_extension::{ExtensionUse, check_extensions};
pub use passwords::{
    RolePasswords, matches_verifier, scram_verifier, set_role_passwords, write_role_passwords,
};
pub use platform::{
    PlatformReport, apply as apply_platform, digest as platform_digest, is_applied as is_platform_applied,
    is_older as is_platform_older, refuse_newer as refuse_newer_platform,
};
pub use privileges::{PrivilegeFault, find_privilege_faults, find_role_faults};
pub use project::{
    LOCK_TIMEOUT, MigrationState, MigrationStatus, OutsideStatements, apply_pending, find_pending,
    list_migrations, run_statements, run_uncommitted,
};
pub use readable_passwords::{ReadablePasswords, has_standby_password};
pub use rebuild_check::{check_before_rebuild, check_files};
pub use repair::{fetch_migrations, forget_migrations, record_migrations};
pub use seed::{SeedFile, SeedOutcome, apply_roles, apply_seeds, find_seeds, has_run_roles, join_stars};
pub use shipped::set_vault_key_file;
pub use slot_functions::close_slot_functions;
pub(crate) use split::{Piece, split_script};
pub use split::{SplitError, Statement, join_statements, split_statements};
pub use squash_journal::SquashJournal;
pub use statement_plan::find_extension_uses;
pub use statement_reader::first_word;
pub use superuser_statement::substitute_superuser_statement;
pub use tenants::{
    Tenant, TenantMigrations, create_tenant, drop_tenant, list_tenants, lock_tenants, read_migrations,
};
