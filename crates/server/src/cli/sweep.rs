//! Arguments of `selvedge sweep`.

use std::time::Duration;

use clap::Args;

#[derive(Debug, Args)]
pub struct SweepArgs {
    /// Only report
    #[arg(long)]
    pub dry_run: bool,
    /// Leave alone what is younger; must exceed the longest upload
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = humantime::parse_duration)]
    pub older_than: Duration,
    /// Also remove objects whose bytes are lost
    #[arg(long)]
    pub remove_objects: bool,
    /// Also remove bytes without an object when they are more than a tenth of all, as those of another database would be
    #[arg(long)]
    pub remove_many: bool,
    /// Delete at once what sweeps have removed, which otherwise stays in the trash for seven days
    #[arg(long)]
    pub empty_trash: bool,
    /// Work with this database instead of the project's own [env: DATABASE_URL]
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
    /// Say that all stored files are of this database, although another one may have some: --yes=HOST, or --yes=PROJECT of its own one
    #[arg(short, long, value_name = "NAME", require_equals = true)]
    pub yes: Option<String>,
}
