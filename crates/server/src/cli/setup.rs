//! Arguments of `selvedge setup`.

use std::ffi::OsString;

use clap::Args;

/// Arguments of `selvedge setup`. What is not given is as at the last run.
#[derive(Debug, Clone, Args)]
pub struct SetupArgs {
    /// A name under which the server is reached, and for which it obtains a certificate; the first is its own
    #[arg(long = "domain", value_name = "NAME")]
    pub domains: Vec<String>,
    /// Where the certificate authority writes to
    #[arg(long, value_name = "ADDRESS")]
    pub email: Option<String>,
    /// The server that sends mail, as smtp://USER@HOST:587. Its password is asked for, or in the file of SMTP_PASSWORD_FILE
    #[arg(long, value_name = "URL")]
    pub smtp_url: Option<String>,
    /// The sender of mails [default: no-reply@ and the first domain]
    #[arg(long, value_name = "ADDRESS", requires = "smtp_url")]
    pub mail_from: Option<String>,
    /// The first account of the console [default: admin]
    #[arg(long, value_name = "NAME")]
    pub console_user: Option<String>,
    /// Begin an empty database where the one that this machine has served cannot be found
    #[arg(long)]
    pub new_database: bool,
    /// Print every file and command, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Take back what this command has made; the data folder, its user and your own files stay
    #[arg(long, conflicts_with_all = ["domains", "email", "smtp_url", "console_user", "new_database"])]
    pub uninstall: bool,
    /// Ask nothing
    #[arg(short, long)]
    pub yes: bool,
}

/// Arguments of `selvedge as-server`, which the command `selvedge-server` calls.
#[derive(Debug, Clone, Args)]
pub struct AsServerArgs {
    /// A command of selvedge with its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}
