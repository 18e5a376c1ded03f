//! How commands print their results.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// A table for people
    Pretty,
    /// NAME="value" lines
    Env,
    /// One JSON object
    Json,
}
