//! `selvedge functions`: creates, serves, lists and deletes edge functions. Source: functions contract §1, §7, §9.

mod create;
mod delete;
mod listing;

use anyhow::{Result, bail};
use selvedge_postgres::cluster::Cluster;

use super::start;
use crate::cli::FunctionsAction;
use crate::config::Config;

pub(super) async fn run(config: Config, action: FunctionsAction) -> Result<()> {
    match action {
        FunctionsAction::New(args) => create::create_function(&config, &args),
        FunctionsAction::Serve(_) => serve_functions(config).await,
        FunctionsAction::List(args) => {
            listing::list_functions(&config, args.output);
            Ok(())
        }
        FunctionsAction::Delete(args) => delete::delete_function(&config, &args),
    }
}

/// `functions serve`: `start` with options for functions.
async fn serve_functions(config: Config) -> Result<()> {
    if Cluster::find_running(&config.selvedge.data_dir)?.is_some() {
        bail!(
            "the project runs already, and serves its functions: a changed file counts from the next call on\n  to \
             serve them with other options, stop it first:  selvedge stop"
        );
    }
    for skipped in config
        .functions
        .functions
        .iter()
        .filter(|function| !function.enabled)
    {
        anstream::eprintln!("Skipped serving Function: {}", skipped.slug);
    }
    start::run(config).await
}
