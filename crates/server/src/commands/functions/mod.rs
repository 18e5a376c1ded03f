//! `selvedge functions`: creates, serves, lists and deletes edge functions. Source: functions contract §1, §7, §9.

mod create;
mod delete;
mod listing;
mod serve;

use anyhow::Result;
use selvedge_config::Config;

use crate::cli::FunctionsAction;

/// Runs an action of `selvedge functions`.
///
/// # Errors
/// Those of the action.
pub(super) async fn run(config: Config, action: FunctionsAction) -> Result<()> {
    match action {
        FunctionsAction::New(args) => create::create_function(&config, &args),
        FunctionsAction::Serve(_) => serve::serve_functions(config).await,
        FunctionsAction::List(args) => {
            listing::list_functions(&config, args.output);
            Ok(())
        }
        FunctionsAction::Delete(args) => delete::delete_function(&config, &args),
    }
}
