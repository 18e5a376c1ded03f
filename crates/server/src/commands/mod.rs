//! One file per command. Each loads the configuration, does its work and prints for people.

mod keys;
mod migrate;
mod reset;
mod rest;
mod serve;
mod shutdown;
mod start;
mod status;
mod stop;
mod sweep;

use anyhow::Result;
use selvedge_gateway::telemetry::{self, LogFormat};

use crate::cli::{Cli, Command};
use crate::config::{Config, Loaded};
use crate::output;

/// Runs a command.
pub(crate) async fn run(cli: Cli) -> Result<()> {
    // No project: the command has settings of its own.
    if let Command::Rest(args) = &cli.command {
        return rest::run(args).await;
    }
    let Loaded { config, warnings } = Config::load(&cli.flags())?;
    // The short commands are read by scripts and called often: they leave the warnings to `start`.
    if matches!(cli.command, Command::Start(_) | Command::Serve(_)) {
        output::warn(&warnings);
    }
    match cli.command {
        Command::Start(_) => start::run(config).await,
        Command::Serve(_) => serve::run(config).await,
        Command::Rest(args) => rest::run(&args).await,
        Command::Stop => stop::run(&config).await,
        Command::Status(args) => status::run(config, args.output),
        Command::Migrate(args) => migrate::run(&config, args.action).await,
        Command::Reset(args) => reset::run(config, args.yes).await,
        Command::Keys(args) => keys::run(&config, &args),
        Command::Sweep(args) => sweep::run(&config, &args).await,
    }
}

/// Starts logging as configured; format and filter are the command's own unless the configuration chose.
fn start_logging(config: &Config, format: LogFormat, filter: &str) {
    let format = match config.own.json_logs {
        None => format,
        Some(true) => LogFormat::Json,
        Some(false) => LogFormat::Pretty,
    };
    telemetry::init(format, config.own.log.as_deref().unwrap_or(filter));
}
