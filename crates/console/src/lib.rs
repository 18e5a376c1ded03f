//! The server half of the console: see everything, change it safely, know why.
//!
//! In: requests of the browser half on a listener and origin of its own, and handles of the server (database logins, keys,
//! inbox, the API's address). Out: the embedded page and `/api/…`. Each account has a level, and each level is a database
//! login, so that PostgreSQL refuses what a level may not do. Every change is written to the audit table in its own
//! transaction. What a service can do goes through its public path; the crate never imports a service.
//!
//! An area of the console is one folder here with a function `routes()`, and one line in `routes.rs`.
//!
//! Source of all behaviour: the console's contract.

mod access;
mod assets;
pub mod audit;
mod auth;
mod catalog;
mod endpoint;
mod error;
mod guards;
mod insights;
mod listener;
mod logs;
mod mail;
mod migrations;
mod objects;
mod policies;
mod proxy;
mod routes;
mod rows;
mod runs;
mod series;
mod services;
mod session;
mod settings;
mod snippets;
mod state;
mod storage_jobs;
mod subject;

pub use access::Access;
pub use error::ConsoleError;
pub use guards::AllowedHosts;
pub use listener::start_console;
pub use logs::{ConsoleLog, StatementTracing};
pub use routes::list_routes;
pub use session::{
    Account, AccountError, Session, StatementPermit, add_account, list_accounts, remove_account,
    set_account_level,
};
pub use state::{
    ApiService, AuthConfiguration, ConfigurationFault, ConfiguredMail, ConfiguredProvider, ConsoleConfig,
    ConsoleDatabase, ConsoleMode, ConsoleState, DoctorCheck, FaultSeverity, InspectAuth, Level,
    MakeApiService, ProjectApi, ProjectFolder, RunDoctor, ServiceHandles, SignInWays, SignToken, Trial,
    UserClaims, check_logins,
};
