//! What all requests share: configuration, connections, keys, hashing threads, limits and the mailer.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SubsecRound, Utc};
use deadpool_postgres::{Client, Pool};
use selvedge_mail::{MailTemplates, Mailer};
use selvedge_token::KeyRing;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::config::AuthConfig;
use crate::error::AuthError;
use crate::hasher::Hasher;
use crate::http_client::HttpClient;
use crate::limits::Limits;
use crate::outbox::Outbox;
use crate::providers::Issuers;
use crate::rules::glob::GlobError;
use crate::rules::redirect::RedirectRules;

/// How long a request waits for its turn to send a mail.
const MAIL_WAIT: Duration = Duration::from_secs(10);

/// The service; one per process, shared by all workers in a `web::Data`.
pub struct AuthState {
    pub(crate) config: AuthConfig,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) mailer: Mailer,
    pub(crate) templates: MailTemplates,
    pub(crate) hasher: Hasher,
    pub(crate) http: HttpClient,
    pub(crate) issuers: Issuers,
    pub(crate) limits: Limits,
    pub(crate) outbox: Outbox,
    pub(crate) redirects: RedirectRules,
    pool: Pool,
    mail_slots: Semaphore,
}

impl AuthState {
    /// Puts the service together. `pool` logs in as `supabase_auth_admin`.
    ///
    /// # Errors
    /// [`GlobError`] when a redirect pattern cannot be read.
    pub fn new(
        config: AuthConfig,
        pool: Pool,
        keys: Arc<KeyRing>,
        mailer: Mailer,
        templates: MailTemplates,
    ) -> Result<Self, GlobError> {
        // A dead SMTP server may hold half of the connections, never all of them: sign-ins go on.
        let mail_slots = Semaphore::new((pool.status().max_size / 2).max(1));
        Ok(Self {
            redirects: RedirectRules::new(&config.site_url, &config.uri_allow_list)?,
            hasher: Hasher::new(&config.password),
            limits: Limits::new(&config),
            http: HttpClient::default(),
            issuers: Issuers::new(config.insecure_providers),
            outbox: Outbox::default(),
            config,
            keys,
            mailer,
            templates,
            pool,
            mail_slots,
        })
    }

    /// A connection of the schema's owner.
    pub(crate) async fn client(&self) -> Result<Client, AuthError> {
        Ok(self.pool.get().await?)
    }

    /// The right to hold a connection while a mail is sent. Take it before the connection.
    pub(crate) async fn mail_slot(&self) -> Result<SemaphorePermit<'_>, AuthError> {
        match tokio::time::timeout(MAIL_WAIT, self.mail_slots.acquire()).await {
            Ok(Ok(slot)) => Ok(slot),
            _ => Err(AuthError::Overloaded),
        }
    }

    /// Whether mails go through the queue in the database. The inbox of development takes them at once.
    pub(crate) fn queues_mail(&self) -> bool {
        self.config.email.queue && matches!(self.mailer, Mailer::Smtp(_))
    }

    /// The time, in the resolution of the database.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }
}
