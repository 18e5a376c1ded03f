//! The binary `selvedge` as a library: command line, wiring.
//!
//! This crate uses all others, and none uses it. Input: arguments, environment variables and a project folder. Output:
//! a running server, or a message that says what to do. It reads the configuration, starts PostgreSQL or connects to
//! one, makes the values that the services share (database, keys, mailer), and mounts each service under its prefix.
//! The services decide what a request may do and how it is answered.

pub mod cli;
mod commands;
pub mod http;
mod server;
mod services;
mod tls;

use std::process::ExitCode;
use std::time::Duration;

use selvedge_terminal::{BAD, show_foreign_text};

/// How long the roles made for a run may take to be dropped at its end.
const END_TIME: Duration = Duration::from_secs(5);

/// Runs the command that the arguments ask for.
pub fn run() -> ExitCode {
    cli::hide_secrets();
    let cli = cli::parse_arguments();
    let runtime = actix_web::rt::System::new();
    let outcome = runtime.block_on(async {
        let outcome = commands::run(cli).await;
        // What a session has left to do after its end must not be cut off by the end of this process.
        let ending = selvedge_postgres::finish_run_logins();
        let _ = tokio::time::timeout(END_TIME, ending).await;
        outcome
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let text = show_foreign_text(&describe_error(&error));
            anstream::eprintln!("{BAD}error{BAD:#} {text}");
            ExitCode::FAILURE
        }
    }
}

/// The error and its causes, one per line. A cause whose text the line before already contains is left out, as many
/// error types repeat their source in their own message.
fn describe_error(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        // tokio-postgres displays "db error"; the server's message is in its source, after the severity.
        let message = cause.trim_start_matches("ERROR: ");
        if cause != "db error" && !text.contains(message) {
            text = format!("{text}\n  {message}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::describe_error;

    #[test]
    fn error_causes_are_not_repeated() {
        let error = anyhow::anyhow!("ERROR: permission denied")
            .context("db error")
            .context("cannot migrate: permission denied");
        assert_eq!(describe_error(&error), "cannot migrate: permission denied");

        let error = anyhow::anyhow!("connection refused").context("cannot log in");
        assert_eq!(describe_error(&error), "cannot log in\n  connection refused");
    }
}
