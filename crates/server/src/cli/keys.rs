//! Arguments of `selvedge keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use selvedge_terminal::OutputFormat;

#[derive(Debug, Args)]
pub struct KeysArgs {
    #[command(subcommand)]
    pub action: Option<KeysAction>,
    /// Make a new set of keys, as variables for `selvedge serve`
    #[arg(long)]
    pub generate: bool,
    /// Write them into a new file that only its owner may read, instead of printing them
    #[arg(long, value_name = "FILE", requires = "generate")]
    pub file: Option<PathBuf>,
    /// How to print
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Env)]
    pub output: OutputFormat,
}

#[derive(Debug, Subcommand)]
pub enum KeysAction {
    /// Generate a new key for user tokens; tokens of older keys stay valid
    Rotate(RotateArgs),
}

#[derive(Debug, Args)]
pub struct RotateArgs {
    /// The algorithm of the new key
    #[arg(long, value_enum, default_value_t = SigningAlgorithm::Es256)]
    pub algorithm: SigningAlgorithm,
    /// How many older keys still verify tokens
    #[arg(long, default_value_t = 3)]
    pub keep: usize,
}

/// Algorithms of `selvedge keys rotate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SigningAlgorithm {
    /// Short tokens, understood by every client.
    Es256,
    /// Understood by the oldest clients, too.
    Rs256,
    /// Ed25519.
    #[value(name = "eddsa")]
    EdDsa,
}
