//! `selvedge status`: prints URLs and keys of the running instance.

use anyhow::{Context, Result, bail};
use selvedge_postgres::cluster::Cluster;

use crate::cli::OutputFormat;
use crate::config::Config;
use crate::instance;
use crate::keys::KeySet;
use crate::output::{self, BOLD, GOOD};

pub(super) fn run(mut config: Config, format: OutputFormat) -> Result<()> {
    let Some(holder) = Cluster::find_running(&config.selvedge.data_dir)? else {
        bail!(
            "{} is not running\n  start it with:  selvedge start",
            config.project.id
        );
    };
    instance::Ports::from_lock(&holder)
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
    output::print_values(&instance::urls_and_keys(&config, &keys), format);
    Ok(())
}
