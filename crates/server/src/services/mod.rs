//! Makes the shared values once, and each service from them.
//!
//! [`Services`] is what the process has once; [`WorkerServices`] is what each worker thread has for itself:
//! its database connections. Configuration is translated here, section by section, into the services' own
//! structs; no service knows the file's format.

mod auth_parts;
mod background;
mod translate;

use std::sync::Arc;
use std::time::Duration;

use actix_web::web;
use anyhow::{Context, Result};
use selvedge_auth::AuthState;
use selvedge_gateway::{Gateway, GatewayConfig, Keys};
use selvedge_mail::Inbox;
use selvedge_postgres::{Database, Login, Logins, RequestPool, RequestPoolConfig};
use selvedge_rest::RestState;
use selvedge_storage::{SeedReport, Storage, StorageWorker, seed_buckets};

use crate::config::Config;
use crate::http::health::CatalogCheck;
use crate::http::{self, Health};
use crate::key_set::KeySet;

pub(crate) use background::Background;
pub(crate) use translate::{objects_folder, with_pool_settings};

/// How often what a crash may have left in the store of objects is looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(24 * 3600);

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
    rest: Option<Arc<RestState>>,
    auth: Option<web::Data<AuthState>>,
    storage: Option<Arc<Storage>>,
    health: web::Data<Health>,
    /// The development inbox, when mails go there.
    pub(crate) inbox: Option<Inbox>,
    has_metrics: bool,
}

/// What one worker has for itself.
pub(crate) struct WorkerServices {
    pub(crate) gateway: Gateway,
    requests: RequestPool,
    rest: Option<Arc<RestState>>,
    auth: Option<web::Data<AuthState>>,
    storage: Option<StorageWorker>,
    health: web::Data<Health>,
    has_metrics: bool,
}

impl Services {
    /// Connects to the database and makes every service; what they do besides requests runs on `background`.
    ///
    /// # Errors
    /// What the configuration asks for and cannot be had, in the words of whoever refused.
    pub(crate) async fn connect(
        background: &Background,
        config: &Config,
        logins: Logins,
        keys: &KeySet,
        mode: Mode,
    ) -> Result<Self> {
        let (config, keys) = (config.clone(), keys.clone());
        background
            .run(async move { Self::assemble(&config, logins, &keys, mode).await })
            .await
    }

    async fn assemble(config: &Config, logins: Logins, keys: &KeySet, mode: Mode) -> Result<Self> {
        let database = Database::connect(logins)
            .await
            .context("cannot log in to the database")?;
        let ring = keys.ring()?;
        let (mailer, inbox) = translate::mailer(config, mode)?;
        let requires_keys = mode == Mode::Production || config.own.require_keys;
        let storage = config.storage.enabled.then(|| {
            Storage::open(
                translate::storage(config, keys, mode),
                database.clone(),
                ring.clone(),
            )
            .context("cannot open the store of objects")
        });
        let auth = config.auth.enabled.then(|| {
            let pool = database.pool(Login::AuthAdmin, config.own.service_connections);
            let templates = translate::mail_templates(config)?;
            let auth = AuthState::new(
                translate::auth(config, mode)?,
                pool,
                ring.clone(),
                mailer,
                templates,
            )
            .context("auth.additional_redirect_urls")?;
            let auth = web::Data::new(auth);
            // On the background thread: whoever assembles the services runs there.
            tokio::spawn(selvedge_auth::sweep_forever(auth.clone()));
            tokio::spawn(selvedge_auth::deliver_forever(auth.clone()));
            anyhow::Ok(auth)
        });
        let rest = match config.api.enabled {
            true => Some(RestState::new(database.clone(), translate::rest(config)).await),
            false => None,
        };
        let health = Health::new(
            database.pool(Login::Authenticator, 1),
            catalog_check(rest.clone()),
        );
        let storage = storage.transpose()?.map(Arc::new);
        if let Some(storage) = &storage {
            selvedge_storage::sweep_at_intervals(storage, SWEEP_INTERVAL)
                .context("cannot start a thread for sweeping")?;
        }
        Ok(Self {
            keys: Keys::new(ring, keys.api_keys(), requires_keys),
            gateway: translate::gateway(config),
            pool: translate::request_pool(config),
            storage,
            health: web::Data::new(health),
            rest,
            auth: auth.transpose()?,
            inbox,
            has_metrics: config.own.metrics,
            database,
        })
    }

    /// The services of one worker; to be called on its thread.
    pub(crate) fn worker(&self) -> WorkerServices {
        let requests = RequestPool::new(self.database.clone(), self.pool.clone());
        let storage = |storage: &Arc<Storage>| StorageWorker::new(storage.clone(), requests.clone());
        WorkerServices {
            gateway: Gateway::new(self.keys.clone(), self.gateway.clone()),
            storage: self.storage.as_ref().map(storage),
            rest: self.rest.clone(),
            auth: self.auth.clone(),
            requests,
            health: self.health.clone(),
            has_metrics: self.has_metrics,
        }
    }

    /// Creates or updates the buckets of the configuration and uploads their files.
    ///
    /// # Errors
    /// A bucket or file that storage refuses.
    pub(crate) async fn seed_buckets(&self, config: &Config) -> Result<SeedReport> {
        match &self.storage {
            Some(storage) => Ok(seed_buckets(storage, &translate::buckets(config)).await?),
            None => Ok(SeedReport::default()),
        }
    }
}

/// The store of objects alone, for work on it that no request asks for.
///
/// # Errors
/// A database that does not let us in, a store that cannot be opened.
pub(crate) async fn open_store(config: &Config, logins: Logins) -> Result<Arc<Storage>> {
    let database = Database::connect(logins)
        .await
        .context("cannot log in to the database")?;
    // Nobody will show a token.
    let ring = KeySet::generate().ring()?;
    let storage = Storage::open(translate::store(config), database, ring);
    Ok(Arc::new(storage.context("cannot open the store of objects")?))
}

impl WorkerServices {
    /// Mounts everything that has a path of its own. A service that is switched off has none.
    pub(crate) fn configure(self) -> impl FnOnce(&mut web::ServiceConfig) {
        move |app| {
            if let Some(state) = self.rest {
                let rest = selvedge_rest::configure(state, self.requests);
                app.service(web::scope("/rest/v1").configure(rest));
            }
            if let Some(state) = self.auth {
                app.service(web::scope("/auth/v1").configure(selvedge_auth::configure(state)));
            }
            if let Some(worker) = self.storage {
                app.service(web::scope("/storage/v1").configure(selvedge_storage::configure(worker)));
            }
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

/// Why requests to REST cannot be planned, if they cannot.
fn catalog_check(rest: Option<Arc<RestState>>) -> CatalogCheck {
    Arc::new(move || {
        let health = rest.as_ref()?.health();
        (!health.loaded).then(|| health.failure.unwrap_or_else(|| "not loaded yet".to_owned()))
    })
}
