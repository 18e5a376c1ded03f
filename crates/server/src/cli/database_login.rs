//! Arguments of `selvedge database`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct DatabaseArgs {
    #[command(subcommand)]
    pub area: DatabaseArea,
}

#[derive(Debug, Subcommand)]
pub enum DatabaseArea {
    /// Add, list or remove logins to the database for people and their programs (psql, BI tools)
    #[command(subcommand)]
    Login(LoginAction),
}

#[derive(Debug, Subcommand)]
pub enum LoginAction {
    /// Add a login, and print its address with a new password, once
    Add(AddLoginArgs),
    /// List all logins with their rights
    List,
    /// Remove a login and end its sessions
    Remove {
        /// The name of the login
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct AddLoginArgs {
    /// The name of the login: letters, digits and underscores
    pub name: String,
    /// Read all tables of the project, past row-level security
    #[arg(long, required_unless_present = "write", conflicts_with = "write")]
    pub read_only: bool,
    /// Also change their rows
    #[arg(long)]
    pub write: bool,
}
