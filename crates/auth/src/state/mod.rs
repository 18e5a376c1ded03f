//! State that all requests share: configuration, connection pool, keys, hashing threads, limits and the mailer.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SubsecRound, Utc};
use deadpool_postgres::{Client, Pool};
use selvedge_mail::{MailTemplates, Mailer};
use selvedge_token::KeyRing;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::config::AuthConfig;
use crate::crypto::one_time_code::CodeKey;
use crate::error::AuthError;
use crate::hasher::Hasher;
use crate::http_client::HttpClient;
use crate::providers::Issuers;
use crate::validation::glob::GlobError;
use crate::validation::redirect::RedirectRules;

pub(crate) mod client_networks;
pub(crate) mod outbox;
pub(crate) mod rate_limits;

use outbox::Outbox;
use rate_limits::Limits;

/// How long a request waits for one of the places for requests that send mail.
const MAIL_WAIT: Duration = Duration::from_secs(10);

/// The service; one per process, shared by all workers in a `web::Data`.
pub struct AuthState {
    pub(crate) config: AuthConfig,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) code_key: CodeKey,
    pub(crate) mailer: Mailer,
    pub(crate) templates: MailTemplates,
    pub(crate) hasher: Hasher,
    pub(crate) http: HttpClient,
    /// For URLs that the API's users choose: hooks, and providers that administrators add by the API.
    pub(crate) restricted_http: HttpClient,
    pub(crate) issuers: Issuers,
    pub(crate) limits: Limits,
    pub(crate) outbox: Outbox,
    pub(crate) redirects: RedirectRules,
    pool: Pool,
    mail_slots: Semaphore,
}

impl AuthState {
    /// Builds the service. `pool` must log in as `supabase_auth_admin`.
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
        // Requests that send mail hold a connection meanwhile. At most half of the pool may wait for an SMTP server that does not
        // respond, so that sign-ins still find a connection.
        let mail_slots = Semaphore::new((pool.status().max_size / 2).max(1));
        Ok(Self {
            redirects: RedirectRules::new(&config.site_url, &config.uri_allow_list)?,
            hasher: Hasher::new(&config.password),
            limits: Limits::new(&config),
            http: HttpClient::new(true),
            restricted_http: HttpClient::new(config.calls_private_addresses),
            issuers: Issuers::new(config.insecure_providers),
            outbox: Outbox::default(),
            code_key: CodeKey::derive(&keys),
            config,
            keys,
            mailer,
            templates,
            pool,
            mail_slots,
        })
    }

    /// The client that calls a provider: administrators may have added those whose name begins with `custom:`.
    pub(crate) fn http_for_provider(&self, provider: &str) -> &HttpClient {
        if provider.starts_with("custom:") {
            &self.restricted_http
        } else {
            &self.http
        }
    }

    /// Takes a connection as `supabase_auth_admin` from the pool.
    pub(crate) async fn connect(&self) -> Result<Client, AuthError> {
        Ok(self.pool.get().await?)
    }

    /// Waits for a place among the requests that send mail. To be called before a connection is taken: a
    /// request that waits for a place while it holds a connection would block the others.
    pub(crate) async fn acquire_mail_slot(&self) -> Result<SemaphorePermit<'_>, AuthError> {
        match tokio::time::timeout(MAIL_WAIT, self.mail_slots.acquire()).await {
            Ok(Ok(slot)) => Ok(slot),
            _ => Err(AuthError::Overloaded),
        }
    }

    /// Whether mails go through the queue in the database; the development inbox takes them at once.
    pub(crate) fn queues_mail(&self) -> bool {
        self.config.email.queue && matches!(self.mailer, Mailer::Smtp(_))
    }

    /// The current time, in the microseconds that PostgreSQL stores.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }
}
