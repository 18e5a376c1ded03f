//! The binary `selvedge` from the inside: command line, configuration, wiring, static site.
//!
//! This crate knows all others and no other knows it. In come the arguments, the environment and a
//! project folder; out goes a running server (or a message that says what to do). It decides nothing that
//! a service decides: it reads configuration, starts PostgreSQL or connects to one, makes the shared
//! values (database, keys, mailer) once, and mounts each service under its prefix.

pub mod cli;
mod commands;
pub mod config;
mod embedded;
mod external;
pub mod http;
pub mod key_set;
mod listen;
mod output;
mod server;
mod services;
mod signing_keys;
pub mod site;
mod status;
mod summary;

use std::process::ExitCode;

use clap::Parser;

use cli::Cli;
use output::BAD;

/// Runs the command that the arguments ask for.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let runtime = actix_web::rt::System::new();
    match runtime.block_on(commands::run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("{BAD}error{BAD:#} {}", described(&error));
            ExitCode::FAILURE
        }
    }
}

/// The error and its causes, each said once: many errors repeat their source in their own text.
fn described(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        // tokio-postgres says "db error" and leaves the words to its source, which begins with a severity.
        let said = cause.trim_start_matches("ERROR: ");
        if cause != "db error" && !text.contains(said) {
            text = format!("{text}\n  {said}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::described;

    #[test]
    fn causes_are_said_once() {
        let error = anyhow::anyhow!("ERROR: permission denied")
            .context("db error")
            .context("cannot migrate: permission denied");
        assert_eq!(described(&error), "cannot migrate: permission denied");

        let error = anyhow::anyhow!("connection refused").context("cannot log in");
        assert_eq!(described(&error), "cannot log in\n  connection refused");
    }
}
