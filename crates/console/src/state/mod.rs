//! What the console's areas share: the configuration, database connections per level, and the server's handles.

mod api;
mod auth_configuration;
mod config;
mod database;
mod doctor_check;
mod handles;
mod project_folder;
mod project_key;

use std::sync::Arc;

use selvedge_mail::Inbox;

use crate::error::ConsoleError;
use crate::logs::ConsoleLog;
use crate::rows::ExportTickets;
use crate::series::Recorder;
use crate::session::{Session, SessionStore, StatementPermit};

pub use api::{ApiService, MakeApiService, ProjectApi, SignToken};
pub use auth_configuration::{
    AuthConfiguration, ConfigurationFault, ConfiguredMail, ConfiguredProvider, FaultSeverity, InspectAuth,
    Trial,
};
pub use config::{ConsoleConfig, ConsoleMode, Level, SignInWays};
pub use database::{ConsoleDatabase, check_logins};
pub use doctor_check::DoctorCheck;
pub use handles::{RunDoctor, ServiceHandles, UserClaims};
pub use project_folder::ProjectFolder;
pub(crate) use project_key::ProjectKey;

/// The state of the console, shared by its worker threads.
pub struct ConsoleState {
    /// The settings that the server has read.
    pub config: ConsoleConfig,
    /// The database connections of each level.
    pub database: ConsoleDatabase,
    api: Option<ProjectApi>,
    /// The latest requests and log lines of this node.
    pub log: Arc<ConsoleLog>,
    /// The development inbox, if the project sends its mail there.
    pub inbox: Option<Inbox>,
    pub(crate) recorder: Recorder,
    /// Functions of the services that the console calls.
    pub handles: ServiceHandles,
    pub(crate) sessions: SessionStore,
    pub(crate) project_key: ProjectKey,
    pub(crate) export_tickets: ExportTickets,
    /// Notified when a storage job was added, so that the runner starts it immediately.
    pub(crate) storage_job_added: tokio::sync::Notify,
    /// Notified when an entry of the audit was written, so that it is sealed.
    pub(crate) audit_written: Arc<tokio::sync::Notify>,
    /// Held while a migration is written and run, so that versions are given one after the other.
    pub(crate) migration_turn: tokio::sync::Mutex<()>,
}

impl ConsoleState {
    /// The state of a console without the project's services, whose log stays empty.
    pub fn new(config: ConsoleConfig, database: ConsoleDatabase, inbox: Option<Inbox>) -> Arc<Self> {
        let handles = ServiceHandles::default();
        Self::with_services(config, database, inbox, None, handles, Arc::default())
    }

    /// The state of a console beside the project's services.
    pub fn with_services(
        config: ConsoleConfig,
        database: ConsoleDatabase,
        inbox: Option<Inbox>,
        api: Option<ProjectApi>,
        handles: ServiceHandles,
        log: Arc<ConsoleLog>,
    ) -> Arc<Self> {
        Arc::new(Self {
            api,
            log,
            recorder: Recorder::default(),
            sessions: SessionStore::new(&config),
            project_key: ProjectKey::default(),
            export_tickets: ExportTickets::default(),
            config,
            database,
            inbox,
            handles,
            storage_job_added: tokio::sync::Notify::new(),
            audit_written: Arc::default(),
            migration_turn: tokio::sync::Mutex::default(),
        })
    }

    /// Returns the project's API, for calls in process.
    ///
    /// # Errors
    /// 503 where the services are not part of this process.
    pub fn api(&self) -> Result<&ProjectApi, ConsoleError> {
        let missing = || ConsoleError::unavailable("The services cannot be reached");
        self.api.as_ref().ok_or_else(missing)
    }

    /// Whether the session still exists; responses that last for minutes check it regularly.
    pub async fn is_alive(&self, session: &Session) -> bool {
        self.sessions.is_alive(&self.database, session).await
    }

    /// Takes one of the account's places for running statements; it is given back when the permit is dropped.
    ///
    /// # Errors
    /// 429 while three statements of the account run.
    pub fn permit_statement(&self, session: &Session) -> Result<StatementPermit, ConsoleError> {
        self.sessions.permit_statement(session)
    }
}
