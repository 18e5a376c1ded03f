//! Sets up logging to standard error: readable lines in development, JSON in production.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::MakeWriterExt;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Pretty,
    Json,
}

/// Starts logging to standard error. `filter` is in the syntax of `RUST_LOG`; an invalid one falls back to `info`.
pub fn init_logging(format: LogFormat, filter: &str) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr.with_max_level(tracing::Level::TRACE));
    // Fails when logging is set up already: tests start several servers in one process, and the first one's format stays.
    let _ = match format {
        LogFormat::Pretty => builder.with_target(false).compact().try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}
