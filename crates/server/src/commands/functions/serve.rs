//! `functions serve`: serves a project's functions with the command's options, and prints their output as the Supabase CLI does.
//!
//! If the project runs, its server applies the options and sends the functions' output; otherwise the project is started with
//! them.

use std::io::Write as _;

use anyhow::Result;
use selvedge_config::Config;
use selvedge_database::instance::Ports;
use selvedge_postgres::cluster::{Cluster, LockHolder};

use super::listing::{find_declared, list_slugs};
use crate::commands::{shutdown, start};
use crate::services::{Session, SessionOptions};

/// How many functions' addresses are printed. Compat: as by the Supabase CLI.
const NAMED_FUNCTIONS: usize = 5;

/// Runs `selvedge functions serve` until a signal arrives.
///
/// # Errors
/// When an option cannot be used, or the project cannot be started.
pub(super) async fn serve_functions(mut config: Config) -> Result<()> {
    let running = Cluster::find_running(&config.selvedge.data_dir)?;
    anstream::eprintln!("Setting up Edge Functions runtime...");
    for slug in list_slugs(&config)
        .iter()
        .filter(|slug| !is_served(&config, slug))
    {
        anstream::eprintln!("Skipped serving Function: {slug}");
    }
    match running {
        Some(holder) => serve_in_running(&mut config, &holder).await?,
        None => {
            config.functions.announces_calls = true;
            start::run(config, print_addresses).await?;
        }
    }
    anstream::println!("Stopped serving supabase/functions");
    Ok(())
}

/// Makes the running server use the options, and prints the functions' output, until a signal arrives.
async fn serve_in_running(config: &mut Config, holder: &LockHolder) -> Result<()> {
    let mut signals = shutdown::Signals::listen()?;
    if let Some(ports) = Ports::from_lock(holder) {
        ports.apply(config);
    }
    let options = SessionOptions::from_flags(&config.flags);
    let mut session = Session::begin(&config.selvedge.data_dir, options).await?;
    print_addresses(config);
    loop {
        let line = tokio::select! {
            line = session.next_line() => line,
            () = signals.next() => return Ok(()),
        };
        match line {
            Some(line) if line.is_error => anstream::eprintln!("{}", line.text),
            Some(line) => {
                anstream::println!("{}", line.text);
                // Standard output is block-buffered when it is a pipe, and scripts wait for single lines.
                std::io::stdout().flush()?;
            }
            None => {
                anstream::eprintln!("The project has stopped, or another `functions serve` has taken over.");
                return Ok(());
            }
        }
    }
}

/// Prints the functions' addresses. Compat: scripts wait for the first line, which is the Supabase CLI's.
///
/// All lines are written at once, so that no line of the log, which others write at the same time, comes between them.
fn print_addresses(config: &Config) {
    let url = format!("{}/functions/v1", config.api_url());
    let slugs = list_slugs(config);
    let served = slugs.iter().filter(|slug| is_served(config, slug));
    let mut lines = format!("Serving functions on {url}/<function-name>\n");
    for slug in served.take(NAMED_FUNCTIONS) {
        lines += &format!(" - {url}/{slug}\n");
    }
    anstream::print!("{lines}");
}

fn is_served(config: &Config, slug: &str) -> bool {
    find_declared(config, slug).is_none_or(|function| function.enabled)
}
