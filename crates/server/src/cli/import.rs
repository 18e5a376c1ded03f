//! Arguments of `selvedge import`.

use std::path::PathBuf;

use clap::Args;
use selvedge_config::{Environment, Flags};
use selvedge_import::ImportOptions;

use super::hidden_arguments::TARGET_VARIABLE;

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// URL of the source's database [env: SUPABASE_DB_URL, and SUPABASE_DB_PASSWORD for a URL without a password]
    #[arg(long, value_name = "URL")]
    pub db_url: Option<String>,
    /// URL of the source's API, from which storage objects are copied [env: SUPABASE_URL]
    #[arg(long, value_name = "URL")]
    pub api_url: Option<String>,
    /// Service role key of the source. Shells keep arguments in their history, so prefer the variable
    /// [env: SUPABASE_SERVICE_ROLE_KEY]
    #[arg(long, value_name = "KEY")]
    pub service_role_key: Option<String>,
    /// The database to import into, instead of the project's own; its user has to be a superuser [env: DATABASE_URL]
    #[arg(long, value_name = "URL")]
    pub to_db_url: Option<String>,
    /// Import into the project's own database although a file of the project names another one
    #[arg(long, conflicts_with = "to_db_url")]
    pub local: bool,
    /// Import into the database that DATABASE_URL names in a file of the project (.env, config.toml)
    #[arg(long, conflicts_with_all = ["to_db_url", "local"])]
    pub external: bool,
    /// Do not copy storage objects
    #[arg(long)]
    pub no_objects: bool,
    /// Finish although some objects cannot be copied; they are left out
    #[arg(long)]
    pub skip_objects: bool,
    /// Replace the database if it is not empty; one on another machine takes its host: --yes=HOST
    #[arg(short, long, value_name = "HOST", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub yes: Option<String>,
    /// Folder with PostgreSQL's programs [default: looked for]
    #[arg(long, value_name = "DIR")]
    pub pg_bin: Option<PathBuf>,
}

impl ImportArgs {
    /// What the import itself is told; the rest are flags.
    pub(crate) fn options(&self) -> ImportOptions {
        ImportOptions {
            db_url: self.db_url.clone(),
            api_url: self.api_url.clone(),
            service_role_key: self.service_role_key.clone(),
            no_objects: self.no_objects,
            skip_objects: self.skip_objects,
            yes: self.yes.clone(),
        }
    }

    /// Adds the target and `--pg-bin` to the flags that override the configuration.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        // The argument is a variable by now, see `hidden_arguments`.
        let hidden = || Environment::of_process().get(TARGET_VARIABLE).map(str::to_owned);
        Flags {
            database_url: self.to_db_url.clone().or_else(hidden).map(Into::into),
            pg_bin: self.pg_bin.clone(),
            is_local: self.local,
            uses_database_of_files: self.external,
            ..flags
        }
    }
}
