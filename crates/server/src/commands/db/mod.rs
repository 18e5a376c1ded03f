//! `selvedge db`: works on the project's database under the names of the Supabase CLI.

mod diff;
mod dump;
mod lint;
mod pull;
mod push;
mod query;
mod reset;
pub(super) mod rows;
mod shadow;
mod squash;

use anyhow::Result;
use selvedge_config::Config;

use super::background::start_detached;
use crate::cli::DbAction;

pub(super) use reset::migrate_down;
pub(super) use squash::run as squash_migrations;

/// Runs an action of `selvedge db`.
///
/// # Errors
/// Those of the action.
pub(super) async fn run(config: Config, action: DbAction) -> Result<()> {
    match action {
        DbAction::Start(args) => start_detached(config, &args).await,
        DbAction::Reset(args) => reset::run(config, args).await,
        DbAction::Push(args) => push::run(&config, &args).await,
        DbAction::Query(args) => query::run(&config, &args).await,
        DbAction::Dump(args) => dump::run(&config, &args).await,
        DbAction::Diff(args) => diff::run(&config, &args).await,
        DbAction::Pull(args) => pull::run(&config, &args).await,
        DbAction::Lint(args) => lint::run(&config, &args).await,
    }
}
