//! Makes the shared values once, and each service from them.
//!
//! [`Services`] is what the process has once; [`WorkerServices`] is what each worker thread has for itself:
//! its database connections. Configuration is translated here, section by section, into the services' own
//! structs; no service knows the file's format.

use std::path::PathBuf;
use std::sync::Arc;

use actix_web::web;
use anyhow::{Context, Result, bail};
use selvedge_gateway::{Gateway, GatewayConfig, Keys};
use selvedge_mail::{Inbox, Mailer, Sender, SmtpConfig, SmtpMailer};
use selvedge_postgres::{Database, Login, Logins, RequestPool, RequestPoolConfig};

use crate::config::{Config, SmtpSection};
use crate::http::{self, Health};
use crate::key_set::KeySet;

/// Which of the two ways of running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `start`
    Development,
    /// `serve`
    Production,
}

/// Everything that all workers share.
pub(crate) struct Services {
    database: Arc<Database>,
    keys: Keys,
    gateway: GatewayConfig,
    pool: RequestPoolConfig,
    health: web::Data<Health>,
    /// The development inbox, when mails go there.
    pub(crate) inbox: Option<Inbox>,
    has_metrics: bool,
}

/// What one worker has for itself.
pub(crate) struct WorkerServices {
    pub(crate) gateway: Gateway,
    health: web::Data<Health>,
    has_metrics: bool,
}

impl Services {
    /// Connects to the database and makes every service.
    ///
    /// # Errors
    /// What the configuration asks for and cannot be had, in the words of whoever refused.
    pub(crate) async fn connect(config: &Config, logins: Logins, keys: &KeySet, mode: Mode) -> Result<Self> {
        let database = Database::connect(logins)
            .await
            .context("cannot log in to the database")?;
        let ring = keys.ring()?;
        let (_mailer, inbox) = mailer(config, mode)?;
        let requires_keys = mode == Mode::Production || config.own.require_keys;
        Ok(Self {
            keys: Keys::new(ring.clone(), keys.api_keys(), requires_keys),
            gateway: gateway_config(config),
            pool: RequestPoolConfig {
                connections_per_worker: config.own.connections_per_worker,
                ..RequestPoolConfig::default()
            },
            health: web::Data::new(Health::new(
                database.pool(Login::Authenticator, 1),
                Arc::new(|| None),
            )),
            inbox,
            has_metrics: config.own.metrics,
            database,
        })
    }

    /// The services of one worker; to be called on its thread.
    pub(crate) fn worker(&self) -> WorkerServices {
        let _requests = RequestPool::new(self.database.clone(), self.pool.clone());
        WorkerServices {
            gateway: Gateway::new(self.keys.clone(), self.gateway.clone()),
            health: self.health.clone(),
            has_metrics: self.has_metrics,
        }
    }

    /// Creates or updates the buckets of the configuration and uploads their files; returns their number.
    pub(crate) async fn seed_buckets(&self, _config: &Config) -> Result<usize> {
        Ok(0)
    }
}

impl WorkerServices {
    /// Mounts everything that has a path of its own.
    pub(crate) fn configure(self) -> impl FnOnce(&mut web::ServiceConfig) {
        move |app| {
            app.service(web::scope("/realtime/v1").configure(http::configure_realtime))
                .service(web::scope("/functions/v1").configure(http::configure_functions))
                .service(web::scope("/graphql/v1").configure(http::configure_graphql))
                .configure(http::configure_health(self.health));
            if self.has_metrics {
                app.route("/metrics", web::get().to(http::render_metrics));
            }
        }
    }
}

/// Where the file backend keeps objects.
pub(crate) fn objects_folder(config: &Config) -> PathBuf {
    config.own.data_dir.join("storage")
}

fn gateway_config(config: &Config) -> GatewayConfig {
    let limits = &config.own.limits;
    GatewayConfig {
        request_timeout: limits.request_timeout,
        max_in_flight_per_worker: limits.in_flight_per_worker,
        trusted_proxies: limits.trusted_proxies,
        access_log: config.own.access_log,
        slow_request: limits.slow_request,
    }
}

/// The configured SMTP server; without one the inbox in development, and an error in production, where a
/// mail that nobody receives would lock people out.
fn mailer(config: &Config, mode: Mode) -> Result<(Mailer, Option<Inbox>)> {
    match (&config.auth.email.smtp, mode) {
        (Some(smtp), _) => Ok((Mailer::Smtp(smtp_mailer(smtp)?), None)),
        (None, Mode::Development) => {
            let inbox = Inbox::default();
            let sender = Sender {
                address: config.inbox.admin_email.clone(),
                name: config.inbox.sender_name.clone(),
            };
            Ok((Mailer::Inbox(inbox.clone(), sender), Some(inbox)))
        }
        (None, Mode::Production) => bail!(
            "`selvedge serve` sends mail through an SMTP server of yours: set [auth.email.smtp] (host, port, \
             user, pass, admin_email) in config.toml, or SUPABASE_AUTH_EMAIL_SMTP_HOST and its kin"
        ),
    }
}

fn smtp_mailer(smtp: &SmtpSection) -> Result<SmtpMailer> {
    let config = SmtpConfig {
        host: smtp.host.clone(),
        port: smtp.port,
        user: smtp.user.clone(),
        password: smtp.pass.clone(),
        sender: Sender {
            address: smtp.admin_email.clone(),
            name: smtp.sender_name.clone().unwrap_or_default(),
        },
        ..SmtpConfig::default()
    };
    SmtpMailer::new(&config).context("[auth.email.smtp]")
}
