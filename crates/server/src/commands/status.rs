//! `selvedge status`: where the running instance is and which keys it takes.

use anyhow::{Context, Result, bail};
use selvedge_postgres::cluster::Cluster;

use crate::cli::OutputFormat;
use crate::config::Config;
use crate::key_set::KeySet;
use crate::output::{self, BOLD, GOOD};
use crate::status;

pub(super) fn run(mut config: Config, format: OutputFormat) -> Result<()> {
    let Some(holder) = Cluster::find_running(&config.own.data_dir)? else {
        bail!(
            "{} is not running\n  start it with:  selvedge start",
            config.project.id
        );
    };
    // Flags of `start` may have chosen other ports than the file.
    status::Ports::from_lock(&holder)
        .context("the instance is just being started")?
        .apply(&mut config);
    let keys = KeySet::for_development(&config)?;
    if format == OutputFormat::Pretty {
        anstream::println!(
            "\n  {BOLD}{}{BOLD:#} {GOOD}is running{GOOD:#} (process {})\n",
            config.project.id,
            holder.pid
        );
    }
    output::print(&status::values(&config, &keys), format);
    Ok(())
}
