//! `selvedge status`: prints URLs and keys of the running instance, in production without those that are secret.

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::home::is_home;
use selvedge_database::instance;
use selvedge_keys::KeySet;
use selvedge_postgres::cluster::SUPERUSER;
use selvedge_terminal::{BOLD, DIM, GOOD, OutputFormat, Values, print_values};

use super::instance_values;
use crate::cli::StatusArgs;

/// Runs `selvedge status`.
///
/// # Errors
/// When the project does not run.
pub(super) fn run(config: Config, args: &StatusArgs) -> Result<()> {
    print_instance(config, args)
}

/// Prints what `selvedge status` does for people.
///
/// # Errors
/// When the project does not run.
pub(super) fn print_status(config: Config) -> Result<()> {
    let args = StatusArgs {
        output: OutputFormat::Pretty,
        override_name: Vec::new(),
        secrets: false,
    };
    print_instance(config, &args)
}

fn print_instance(mut config: Config, args: &StatusArgs) -> Result<()> {
    let format = args.output;
    let Some(holder) = instance::find_server(&config)? else {
        bail!(
            "{} is not running\n  start it with:  selvedge {}",
            config.project.id,
            if is_home(&config) { "serve" } else { "start" }
        );
    };
    if !holder.is_server() {
        bail!("{} is not running; {holder}", config.project.id);
    }
    instance::Ports::from_lock(&holder)
        .context("the instance is just being started")?
        .apply(&mut config);
    let keys = KeySet::of_instance(&config)?;
    if format == OutputFormat::Pretty {
        anstream::println!(
            "\n  {BOLD}{}{BOLD:#} {GOOD}is running{GOOD:#} (process {})\n",
            config.project.id,
            holder.pid
        );
    }
    let mut values = instance_values::urls_and_keys(&config, &keys);
    // Its output ends in logs and chats. Those of a laptop are known to everybody.
    let hides_secrets = is_home(&config) && !args.secrets;
    if hides_secrets {
        values.retain(|name, _| !instance_values::SECRETS.contains(&name.as_ref()));
    }
    print_values(&rename_values(values, &args.override_name)?, format);
    if format == OutputFormat::Pretty && hides_secrets {
        anstream::println!("\n  {DIM}secret keys: selvedge status --secrets, or selvedge keys{DIM:#}");
    }
    if format == OutputFormat::Pretty {
        anstream::println!(
            "\n  {DIM}the password of {SUPERUSER}, the superuser of the database, is in {}{DIM:#}",
            config.selvedge.data_dir.join("superuser-password").display()
        );
    }
    Ok(())
}

/// Renames values. `names` has pairs `VALUE=NAME`, where a value is written as in config.toml: `api.url` for `API_URL`.
fn rename_values(values: Values, names: &[String]) -> Result<Values> {
    let mut renamed = Vec::with_capacity(names.len());
    for pair in names {
        let (value, name) = pair
            .split_once('=')
            .with_context(|| format!("--override-name {pair}: it has to be of the form api.url=NAME"))?;
        renamed.push((value.replace('.', "_").to_uppercase(), name.to_owned()));
    }
    let rename = |name: &str| {
        let other = renamed.iter().find(|(value, _)| value == name);
        other.map_or_else(|| name.to_owned(), |(_, other)| other.clone())
    };
    Ok(values
        .into_iter()
        .map(|(name, value)| (rename(&name).into(), value))
        .collect())
}
