//! Arguments of `selvedge import`.

use std::path::PathBuf;

use clap::Args;

use crate::config::Flags;

#[derive(Debug, Default, Args)]
pub struct ImportArgs {
    /// The source's database [env: SUPABASE_DB_URL, and SUPABASE_DB_PASSWORD for a URL without a password]
    #[arg(long, value_name = "URL")]
    pub db_url: Option<String>,
    /// The source's API, from which objects are copied [env: SUPABASE_URL]
    #[arg(long, value_name = "URL")]
    pub api_url: Option<String>,
    /// Its service role key, which other users of this machine see as an argument [env: SUPABASE_SERVICE_ROLE_KEY]
    #[arg(long, value_name = "KEY")]
    pub service_role_key: Option<String>,
    /// Leave the objects out
    #[arg(long)]
    pub no_objects: bool,
    /// Replace what the project has
    #[arg(short, long)]
    pub yes: bool,
    /// Folder with PostgreSQL's programs [default: looked for]
    #[arg(long, value_name = "DIR")]
    pub pg_bin: Option<PathBuf>,
}

impl ImportArgs {
    /// Adds these arguments to `flags`.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            pg_bin: self.pg_bin.clone(),
            ..flags
        }
    }
}
