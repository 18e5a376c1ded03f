//! Arguments of `selvedge functions`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use selvedge_config::Flags;
use selvedge_functions::InspectMode;
use selvedge_terminal::OutputFormat;

use super::StartArgs;

#[derive(Debug, Args)]
pub struct FunctionsArgs {
    #[command(subcommand)]
    pub action: FunctionsAction,
}

#[derive(Debug, Subcommand)]
pub enum FunctionsAction {
    /// Create a function
    New(NewFunctionArgs),
    /// Serve the functions with these options and print their output; starts the project if it does not run
    Serve(Box<ServeFunctionsArgs>),
    /// List the project's functions
    List(ListFunctionsArgs),
    /// Delete a function: its folder and its section in config.toml
    Delete(DeleteFunctionArgs),
}

#[derive(Debug, Args)]
pub struct NewFunctionArgs {
    /// Its name in the URL
    pub slug: String,
    /// Which callers are allowed
    #[arg(long, value_enum, default_value_t = FunctionAuth::Apikey)]
    pub auth: FunctionAuth,
}

/// The callers that a new function allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FunctionAuth {
    /// Everybody
    None,
    /// Callers with one of the project's API keys
    Apikey,
    /// Signed-in users
    User,
}

#[derive(Debug, Args)]
pub struct ListFunctionsArgs {
    /// How to print
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Pretty)]
    pub output: OutputFormat,
}

#[derive(Debug, Args)]
pub struct DeleteFunctionArgs {
    /// The function's name
    pub slug: String,
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct ServeFunctionsArgs {
    /// Variables of the functions, as NAME=value lines [default: functions/.env]
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// Import map of all functions
    #[arg(long, value_name = "FILE")]
    pub import_map: Option<PathBuf>,
    /// Let calls pass without a JWT
    #[arg(long)]
    pub no_verify_jwt: bool,
    /// Listen for a debugger (config: edge_runtime.inspector_port); time limits are off
    #[arg(long)]
    pub inspect: bool,
    /// Listen for a debugger, and choose how a function starts
    #[arg(long, value_enum)]
    pub inspect_mode: Option<InspectModeArg>,
    /// Ignored, accepted for the Supabase CLI's scripts: functions have no main worker here
    #[arg(long, hide = true)]
    pub inspect_main: bool,
    #[command(flatten)]
    pub start: StartArgs,
}

/// How a function starts when a debugger may attach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InspectModeArg {
    /// At once
    Run,
    /// Stopped at its first line
    Brk,
    /// When the debugger is connected
    Wait,
}

impl ServeFunctionsArgs {
    /// Adds the options for functions to `flags`. Paths are relative to the current directory.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let mode = match self.inspect_mode {
            Some(InspectModeArg::Run) => Some(InspectMode::Run),
            Some(InspectModeArg::Brk) => Some(InspectMode::Break),
            Some(InspectModeArg::Wait) => Some(InspectMode::Wait),
            None => self.inspect.then_some(InspectMode::Break),
        };
        Flags {
            env_file: self.env_file.as_ref().map(absolute),
            import_map: self.import_map.as_ref().map(absolute),
            no_verify_jwt: self.no_verify_jwt,
            inspect: mode,
            ..flags
        }
    }
}
