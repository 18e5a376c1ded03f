//! Arguments of `selvedge link`.

use clap::Args;

#[derive(Debug, Args)]
pub struct LinkArgs {
    /// The database's address, postgresql://user@host:5432/postgres; without it, the recorded one is printed
    #[arg(long, value_name = "URL", visible_alias = "database-url")]
    pub db_url: Option<String>,
    /// The password, when the address has none. Other users of this machine can read arguments, so prefer the variable
    /// [env: SUPABASE_DB_PASSWORD]
    #[arg(short, long)]
    pub password: Option<String>,
    /// A hosted project, as the Supabase CLI names it, which is refused with advice
    #[arg(long, value_name = "REF", hide = true)]
    pub project_ref: Option<String>,
    /// Record the address without connecting
    #[arg(long)]
    pub no_check: bool,
}
