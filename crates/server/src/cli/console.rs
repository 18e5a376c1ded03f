//! Arguments of `selvedge console`.

use clap::{Args, Subcommand};
use selvedge_console::Level;

use super::TargetArgs;

#[derive(Debug, Args)]
pub struct ConsoleArgs {
    #[command(subcommand)]
    pub area: ConsoleArea,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Subcommand)]
pub enum ConsoleArea {
    /// Add, list, change or remove accounts that sign in to the console
    #[command(subcommand)]
    User(UserAction),
}

#[derive(Debug, Subcommand)]
pub enum UserAction {
    /// Add an account; its password is asked for, or read from standard input
    Add {
        /// The name with which it signs in
        name: String,
        /// The level: viewer or admin
        #[arg(long)]
        level: Level,
    },
    /// List all accounts
    List,
    /// Remove an account and end its sessions
    Remove {
        /// The name with which it signs in
        name: String,
    },
    /// Give an account another level and end its sessions
    SetLevel {
        /// The name with which it signs in
        name: String,
        /// The new level: viewer or admin
        level: Level,
    },
}
