//! The settings of the console, as the server has read them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::project_folder::ProjectFolder;
use crate::guards::AllowedHosts;

/// What an account may do. Each level has its own database login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The account may read.
    Viewer,
    /// The account may do everything that the server's settings allow.
    Admin,
}

impl Level {
    /// Returns the name that accounts, the audit and answers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "viewer" => Ok(Self::Viewer),
            "admin" => Ok(Self::Admin),
            other => Err(format!("{other:?} is no level: viewer, admin")),
        }
    }
}

/// Which command serves the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConsoleMode {
    /// `selvedge start`
    Start,
    /// `selvedge serve`
    Serve,
}

/// Who may sign in to the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInWays {
    /// Whether the console's own accounts may.
    pub accounts: bool,
    /// Whether users of the project may. They need a level in their `app_metadata` and a second factor.
    pub project: bool,
}

/// The settings of the console.
#[derive(Clone)]
pub struct ConsoleConfig {
    /// The command that serves the console.
    pub mode: ConsoleMode,
    /// The project's name.
    pub project: String,
    /// The hosts to which the console answers.
    pub hosts: AllowedHosts,
    /// Whether the console requires a sign-in. Without it everybody who reaches the listener is an admin.
    pub login: bool,
    /// Who may sign in, if the console requires a sign-in.
    pub sign_in: SignInWays,
    /// Whether all accounts are viewers.
    pub read_only: bool,
    /// Whether admins may change the schema.
    pub schema_changes: bool,
    /// Whether cookies are sent over TLS only, which is so beyond loopback.
    pub secure_cookies: bool,
    /// A session ends after this time without a request.
    pub idle: Duration,
    /// A session ends this long after the sign-in.
    pub lifetime: Duration,
    /// The longest time that a statement may run.
    pub statement_timeout: Duration,
    /// The public address of the API.
    pub api_url: String,
    /// The publishable key, which applications use in browsers.
    pub publishable_key: String,
    /// The address of the inbox's own page.
    pub inbox_url: Option<String>,
    /// The schemas that the REST service exposes.
    pub exposed_schemas: Vec<String>,
    /// The folder of snippets, in `start`: they are files of the project.
    pub snippets_folder: Option<ProjectFolder>,
    /// The folder into which changes of the schema are written. `None` where nothing would apply its files: in `serve`, and
    /// where the project switches its migrations off.
    pub migrations_folder: Option<ProjectFolder>,
    /// The version of this program.
    pub version: &'static str,
    /// The number of trusted proxies in front of the listener, whose `X-Forwarded-For` names the client.
    pub trusted_proxies: usize,
}
