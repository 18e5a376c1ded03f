//! Log lines: for people in development, as JSON in production.

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
pub fn init(format: LogFormat, filter: &str) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr.with_max_level(tracing::Level::TRACE));
    // Tests start several servers in one process; the first one's format stays.
    let _ = match format {
        LogFormat::Pretty => builder.with_target(false).compact().try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}
