//! The state that all worker threads share: the database, the keys, and the state of each service.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web;
use anyhow::{Context, Result, bail};
use selvedge_auth::AuthState;
use selvedge_config::{Config, Mode};
use selvedge_console::{ConsoleLog, InspectAuth, ServiceHandles, StatementTracing, UserClaims};
use selvedge_database::capacity::request_pool;
use selvedge_database::objects_owner::{ObjectsOwner, list_possible_owners, objects_folder};
use selvedge_database::{external::ExternalDatabase, objects_store};
use selvedge_functions::Functions;
use selvedge_gateway::{
    BodyCheck, ContinueCheck, Drain, Gateway, GatewayConfig, Hold, Keys, SharedRequestListener,
    UpgradeHandler, keep_running,
};
use selvedge_generator::{Generator, run_generator_forever};
use selvedge_keys::KeySet;
use selvedge_limits::ShareLimit;
use selvedge_mail::{Inbox, Mailer};
use selvedge_mail_queue::{MailLimits, MailLinks, MailQueue, Unsubscribe, deliver_queued_mails_forever};
use selvedge_memory::MemoryBudget;
use selvedge_meta::Meta;
use selvedge_postgres::{Database, Login, Logins, Replicas, RequestPool, RequestPoolConfig};
use selvedge_realtime::{Realtime, RealtimeConfig};
use selvedge_rest::SchemaCache;
use selvedge_storage::{
    OwnersNote, SeedReport, ServiceObjects, Storage, StorageConfig, StorageWorker, seed_buckets,
};
use selvedge_telemetry::{Telemetry, TelemetrySettings};
use selvedge_terminal::print_warnings;
use selvedge_token::KeyRing;
use tokio::sync::mpsc;

use super::auth_inspection::AuthInspector;
use super::background::BackgroundRuntime;
use super::function_sessions::accept_sessions;
use super::function_settings::{SettingsSource, follow_settings, warn_of_refused_deno};
use super::memory_plan::MemoryPlan;
use super::picture_store::StoragePictures;
use super::third_party::follow_issuer;
use super::translate;
use super::upgrades::ServiceUpgrades;
use super::worker::WorkerServices;
use crate::http::health::{BrokerCheck, CatalogCheck};
use crate::http::{Health, MetricsAudience};

/// How often the object store is searched for bytes that a crash may have left behind.
const SWEEP_INTERVAL: Duration = Duration::from_secs(24 * 3600);

/// The state that all workers share. A service that is switched off is `None`.
pub(crate) struct Services {
    database: Arc<Database>,
    keys: Keys,
    gateway: GatewayConfig,
    /// How many connections one address may have open.
    connections: Option<ShareLimit>,
    pool: RequestPoolConfig,
    replicas: Option<Arc<Replicas>>,
    rest: Option<Arc<SchemaCache>>,
    auth: Option<web::Data<AuthState>>,
    storage: Option<Arc<Storage>>,
    generator: Option<Arc<Generator>>,
    unsubscribe: Option<Arc<Unsubscribe>>,
    meta: Option<Arc<Meta>>,
    /// Read by the shutdown, which closes its sockets before anything else.
    pub(crate) realtime: Option<Realtime>,
    /// Read by the shutdown, which ends its workers after the HTTP servers.
    pub(crate) functions: Option<Functions>,
    health: web::Data<Health>,
    /// Begun by the shutdown before it closes anything.
    pub(crate) drain: Drain,
    /// Begun while the database is restarted.
    pub(crate) hold: Hold,
    /// The development inbox, when mail goes there.
    pub(crate) inbox: Option<Inbox>,
    metrics: Option<MetricsAudience>,
    /// The command that runs the project.
    pub(crate) mode: Mode,
    ring: Arc<KeyRing>,
    /// The console's log of requests; `None` without a console.
    pub(crate) console_log: Option<Arc<ConsoleLog>>,
    /// Sends traces of requests; `None` when nothing names a collector. The shutdown sends the last ones.
    pub(crate) telemetry: Option<Telemetry>,
}

impl Services {
    /// Connects to the database and makes every service. Their background tasks run on `background`.
    ///
    /// # Errors
    /// A database that refuses the login, or a setting that a service cannot use.
    pub(crate) async fn connect(
        background: &BackgroundRuntime,
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

    /// Adds the API of postgres-meta, which runs as `owner`, unless it is switched off.
    ///
    /// # Errors
    /// In production a login with which the service key would give away the database's machine.
    pub(crate) async fn with_meta(mut self, config: &Config, owner: tokio_postgres::Config) -> Result<Self> {
        self.meta = translate::meta::make_meta(config, owner, self.mode).await?;
        Ok(self)
    }

    /// Runs on the background thread, so that tasks spawned here stay there.
    async fn assemble(config: &Config, logins: Logins, keys: &KeySet, mode: Mode) -> Result<Self> {
        let database = Database::connect(logins)
            .await
            .context("cannot log in to the database")?;
        let memory = MemoryPlan::start(config, mode).context("cannot start a thread")?;
        let telemetry = start_telemetry(config)?;
        let ring = make_ring(config, keys, mode)?;
        let (mailer, inbox) = translate::mail::build_mailer(config, mode)?;
        start_mails(config, &database, mailer.clone());
        let storage = open_swept_storage(config, &database, &ring, (keys, mode), &memory).await?;
        let start = || start_auth(config, &database, &ring, mailer, mode);
        let auth = config.auth.enabled.then(start).transpose()?;
        let rest = match config.api.enabled {
            true => Some(SchemaCache::start(database.clone(), config.rest_settings().0).await),
            false => None,
        };
        let realtime = start_realtime(config, &database, (&ring, keys), &memory, telemetry.clone())?;
        start_jobs(config, &database, mode);
        let functions = make_functions(config, &ring, keys, mode);
        memory.watch_functions(functions.as_ref());
        let drain = Drain::default();
        let console_log = config.console.is_served(mode).then(ConsoleLog::start);
        let listener = console_log.clone().map(as_listener);
        Ok(Self {
            functions,
            keys: Keys::new(ring.clone(), keys.api_keys(), requires_keys(config, mode)),
            gateway: translate::gateway::gateway_config(config, &memory, listener),
            connections: memory.limit_connections(config.selvedge.limits.connections_per_address),
            ring,
            console_log,
            telemetry,
            pool: request_pool(config, &memory.budget),
            replicas: start_replicas(config, &database, &memory)?,
            generator: start_generator(config, &database, storage.as_ref(), mode)?,
            unsubscribe: make_unsubscribe(config, &database),
            storage,
            meta: None,
            health: make_health(&database, rest.clone(), realtime.clone(), drain.clone()),
            drain,
            hold: Hold::default(),
            rest,
            auth,
            realtime,
            inbox,
            metrics: metrics_audience(config),
            database,
            mode,
        })
    }

    /// The services of one worker. Call it on the worker's thread, as its connections belong to that thread.
    pub(crate) fn worker(&self) -> WorkerServices {
        let requests = RequestPool::new(self.database.clone(), self.pool.clone());
        let replicas = self.replicas.as_ref().map(|replicas| Rc::new(replicas.worker()));
        let storage = |storage: &Arc<Storage>| {
            StorageWorker::new(storage.clone(), requests.clone()).with_replicas(replicas.clone())
        };
        WorkerServices {
            gateway: Gateway::with_drain(
                self.keys.clone(),
                self.gateway.clone(),
                self.drain.clone(),
                self.hold.clone(),
            ),
            storage: self.storage.as_ref().map(storage),
            generator: self.generator.clone(),
            unsubscribe: self.unsubscribe.clone(),
            meta: self.meta.clone(),
            realtime: self.realtime.as_ref().map(Realtime::worker),
            functions: self.functions.as_ref().map(Functions::worker),
            rest: self.rest.clone(),
            auth: self.auth.clone(),
            requests,
            replicas,
            health: self.health.clone(),
            metrics: self.metrics,
        }
    }

    /// The middleware that collects the statements of requests for the console.
    pub(crate) fn statement_tracing(&self) -> StatementTracing {
        StatementTracing::new(self.console_log.clone(), self.gateway.slow_request)
    }

    /// The keys that sign tokens.
    pub(crate) fn ring(&self) -> &Arc<KeyRing> {
        &self.ring
    }

    /// The store of objects; `None` when it is switched off.
    pub(crate) fn storage(&self) -> Option<&Arc<Storage>> {
        self.storage.as_ref()
    }

    /// The database with all logins.
    pub(crate) fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Makes the functions of the services that the console calls.
    pub(crate) fn console_handles(&self, config: &Config) -> ServiceHandles {
        // Without Auth there are no users and no claims.
        let inspector = self.auth.clone().map(|auth| -> Arc<dyn InspectAuth> {
            Arc::new(AuthInspector::new(auth, config, self.mode, self.database.clone()))
        });
        let auth = self.auth.clone();
        let user_claims = auth.map(|auth| -> UserClaims {
            Arc::new(move |user, aal| {
                let auth = auth.clone();
                Box::pin(async move {
                    let claims = selvedge_auth::preview_access_claims(auth, user, &aal).await;
                    claims.map_err(|error| error.to_string())
                })
            })
        });
        ServiceHandles {
            user_claims,
            auth: inspector,
            ..ServiceHandles::default()
        }
    }

    /// The files of public buckets, where pictures are rendered.
    pub(crate) fn public_pictures(&self, config: &Config) -> Option<ServiceObjects> {
        let storage = self
            .storage
            .clone()
            .filter(|_| config.storage.image_transformation);
        storage.map(ServiceObjects::new)
    }

    /// The checks behind `/health`.
    pub(crate) fn health(&self) -> web::Data<Health> {
        self.health.clone()
    }

    /// What large bodies, results and heads are reserved from.
    pub(crate) fn memory(&self) -> MemoryBudget {
        self.gateway.memory.clone()
    }

    /// How many connections one address may have open; any number if `None`.
    pub(crate) fn connections_per_address(&self) -> Option<ShareLimit> {
        self.connections
    }

    /// The check of requests whose clients wait for `100 Continue`.
    pub(crate) fn continue_check(&self) -> ContinueCheck {
        let storage = self.storage.clone();
        ContinueCheck::new(
            self.keys.clone(),
            storage.map(|storage| storage as Arc<dyn BodyCheck>),
        )
    }

    /// The handler of WebSocket handshakes for one worker. Call it on the worker's thread, because sockets never
    /// change threads.
    pub(crate) fn upgrade_handler(&self) -> Option<Rc<dyn UpgradeHandler>> {
        let realtime = self
            .realtime
            .as_ref()
            .map(|realtime| realtime.worker().upgrades());
        let functions = self
            .functions
            .as_ref()
            .map(|functions| functions.worker().upgrades());
        Some(Rc::new(ServiceUpgrades { realtime, functions }))
    }

    /// Creates or updates the configured buckets and uploads their files.
    ///
    /// # Errors
    /// A bucket or file that storage refuses.
    pub(crate) async fn seed_buckets(&self, config: &Config) -> Result<SeedReport> {
        match &self.storage {
            Some(storage) => Ok(seed_buckets(storage, &translate::storage::bucket_seeds(config)).await?),
            None => Ok(SeedReport::default()),
        }
    }
}

/// Starts the workers of pg_net and pg_cron.
/// Who may read `/metrics`; `None` where they are switched off.
fn metrics_audience(config: &Config) -> Option<MetricsAudience> {
    config.selvedge.metrics.then(|| match config.acme() {
        Some(_) => MetricsAudience::ThisMachine,
        None => MetricsAudience::Everybody,
    })
}

fn start_jobs(config: &Config, database: &Arc<Database>, mode: Mode) {
    if config.selvedge.jobs.enabled {
        let jobs = translate::jobs::jobs_config(config, mode);
        let database = database.clone();
        tokio::spawn(keep_running("pg_net and pg_cron", move || {
            selvedge_jobs::run_jobs_forever(database.clone(), jobs.clone())
        }));
    }
}

/// Makes the key ring, which follows the third-party issuer if the project has one.
fn make_ring(config: &Config, keys: &KeySet, mode: Mode) -> Result<Arc<KeyRing>> {
    let ring = keys.ring()?;
    if let Some(issuer) = &config.auth.third_party {
        follow_issuer(&ring, issuer.issuer_url(), mode)?;
    }
    Ok(ring)
}

/// Starts the exporter of traces where the configuration or a standard variable names a collector.
fn start_telemetry(config: &Config) -> Result<Option<Telemetry>> {
    let endpoint = config.selvedge.telemetry.endpoint.as_deref();
    let settings = TelemetrySettings::from_variables(endpoint, |name| std::env::var(name).ok());
    Ok(settings.as_ref().map(Telemetry::start).transpose()?)
}

fn as_listener(log: Arc<ConsoleLog>) -> SharedRequestListener {
    SharedRequestListener(log)
}

/// Makes the checks behind `/health`.
fn make_health(
    database: &Arc<Database>,
    rest: Option<Arc<SchemaCache>>,
    realtime: Option<Realtime>,
    drain: Drain,
) -> web::Data<Health> {
    // One connection, apart from the services' pools: a busy service must not look like a dead database.
    let connection = database.pool(Login::Authenticator, 1);
    let health = Health::new(connection, catalog_check(rest), broker_check(realtime), drain)
        .with_disk(database.disk());
    let health = web::Data::new(health);
    let watched = health.clone();
    tokio::spawn(async move {
        let watch = || {
            let watched = watched.clone();
            async move { watched.watch_writes().await }
        };
        keep_running("health", watch).await;
    });
    health
}

/// Opens the storage service without its HTTP side, for `selvedge sweep`, which asks `owners` whose the files are.
///
/// # Errors
/// A database that refuses the login, or an object store that cannot be opened.
pub(crate) async fn open_storage(
    config: &Config,
    logins: Logins,
    owners: Option<OwnersNote>,
) -> Result<Arc<Storage>> {
    let database = Database::connect(logins)
        .await
        .context("cannot log in to the database")?;
    // A sweep serves no requests and verifies no tokens, so a key ring with random keys is enough.
    let ring = KeySet::generate().ring()?;
    let settings = StorageConfig {
        owners,
        ..objects_store::store(config)
    };
    let storage = Storage::open(settings, database, ring);
    Ok(Arc::new(storage.context("cannot open the store of objects")?))
}

/// Creates or updates the configured buckets and uploads their files, beside an instance that runs.
///
/// # Errors
/// As [`open_storage`], and a bucket or file that storage refuses.
pub(crate) async fn fill_buckets(config: &Config, logins: Logins) -> Result<SeedReport> {
    let storage = open_storage(config, logins, None).await?;
    Ok(seed_buckets(&storage, &translate::storage::bucket_seeds(config)).await?)
}

/// Opens the storage service, unless it is switched off, and starts its daily sweep.
async fn open_swept_storage(
    config: &Config,
    database: &Arc<Database>,
    ring: &Arc<KeyRing>,
    (keys, mode): (&KeySet, Mode),
    memory: &MemoryPlan,
) -> Result<Option<Arc<Storage>>> {
    if !config.storage.enabled {
        return Ok(None);
    }
    let found = find_objects_owner(config, database, mode).await?;
    let (owner, owners) = found.unzip();
    let settings = StorageConfig {
        owners,
        ..translate::storage::storage_config(config, keys, mode, memory.pixels)
    };
    let storage = Storage::open(settings, database.clone(), ring.clone())
        .context("cannot open the store of objects")?;
    let storage = Arc::new(storage);
    if let Some(owner) = owner {
        note_owner(config, &owner)?;
    }
    // Each sweep asks whether another database has come since.
    selvedge_storage::sweep_at_intervals(&storage, SWEEP_INTERVAL)
        .context("cannot start a thread for sweeping")?;
    Ok(Some(storage))
}

/// The database whose objects the files of the project get, and what the storage service asks before it sweeps; `None` where objects are in a
/// bucket. `start` works on the project's own, whatever the configuration names.
async fn find_objects_owner(
    config: &Config,
    database: &Arc<Database>,
    mode: Mode,
) -> Result<Option<(ObjectsOwner, OwnersNote)>> {
    if config.selvedge.s3.is_some() {
        return Ok(None);
    }
    match ExternalDatabase::of_project(config)? {
        Some(external) if mode == Mode::Production => {
            let pool = database.pool(Login::Authenticator, 1);
            let client = pool.get().await.context("cannot log in to the database")?;
            let explain = "cannot tell which database it is";
            let client: &tokio_postgres::Client = &client;
            let owner = ObjectsOwner::of_session(config, client, &external.describe()).await;
            let owner = owner.context(explain)?;
            let note = owner.note_for_storage(config, Some(client)).await;
            let note = note.context(explain)?;
            Ok(Some((owner, note)))
        }
        _ => {
            let note = ObjectsOwner::Own.note_for_storage(config, None).await?;
            Ok(Some((ObjectsOwner::Own, note)))
        }
    }
}

/// Notes whose objects the files are, and warns where they are not of one database alone.
fn note_owner(config: &Config, owner: &ObjectsOwner) -> Result<()> {
    let folder = objects_folder(config);
    if !owner.join(config, &folder)? {
        print_warnings(&[format!(
            "{} holds objects of another database as well ({}), so files without an object are not removed from it\n  see:  selvedge sweep \
             --dry-run\n  if all of them are of one database, say of which:  selvedge sweep --yes=… (the host, or {} for the project's own)",
            folder.display(),
            list_possible_owners(config, &folder)?.join(", "),
            config.project.id
        )]);
    }
    Ok(())
}

/// Makes the auth service and starts its background tasks: deletion of expired rows, and delivery of queued mail.
fn start_auth(
    config: &Config,
    database: &Arc<Database>,
    ring: &Arc<KeyRing>,
    mailer: Mailer,
    mode: Mode,
) -> Result<web::Data<AuthState>> {
    let settings = translate::auth::auth_config(config, mode)?;
    let pool = database.pool(Login::AuthAdmin, config.selvedge.service_connections);
    let templates = translate::mail::mail_templates(config)?;
    let auth = AuthState::new(settings, pool, ring.clone(), mailer, templates)
        .context("auth.additional_redirect_urls")?;
    let auth = web::Data::new(auth);
    let state = auth.clone();
    tokio::spawn(keep_running("auth's cleanup", move || {
        selvedge_auth::delete_expired_rows_forever(state.clone())
    }));
    let state = auth.clone();
    tokio::spawn(keep_running("auth's mails", move || {
        selvedge_auth::deliver_mails_forever(state.clone())
    }));
    Ok(auth)
}

/// Starts the delivery of mails that the project queues, where it has a table of them.
fn start_mails(config: &Config, database: &Arc<Database>, mailer: Mailer) {
    let jobs = &config.selvedge.jobs;
    if let Some(table) = jobs.mail_table.as_ref().filter(|_| jobs.enabled) {
        let limits = MailLimits {
            authorized_addresses: config.selvedge.auth.authorized_addresses.clone(),
            // The development inbox needs no limit.
            per_hour: config.auth.email.smtp.is_some().then_some(jobs.mails_per_hour),
        };
        let api_url = jobs.unsubscribe.as_ref().map(|_| config.api_url());
        let links = MailLinks::new(&config.auth.site_url, api_url.as_deref());
        let mails = MailQueue::new(table, database.clone(), mailer, links, limits);
        tokio::spawn(keep_running("the project's mails", move || {
            deliver_queued_mails_forever(mails.clone())
        }));
    }
}

/// What ends mails without a sign-in, where the project has a function for it. On every node, also on one that sends none.
fn make_unsubscribe(config: &Config, database: &Arc<Database>) -> Option<Arc<Unsubscribe>> {
    let function = config.selvedge.jobs.unsubscribe.as_ref()?;
    let site_url = &config.auth.site_url;
    Some(Unsubscribe::new(function, database.clone(), site_url))
}

/// Makes the realtime service, unless it is switched off, and starts its background tasks.
fn start_realtime(
    config: &Config,
    database: &Arc<Database>,
    (ring, keys): (&Arc<KeyRing>, &KeySet),
    memory: &MemoryPlan,
    telemetry: Option<Telemetry>,
) -> Result<Option<Realtime>> {
    if !config.realtime.enabled {
        return Ok(None);
    }
    let settings = RealtimeConfig {
        telemetry,
        ..translate::realtime::realtime_config(config, &memory.budget)
    };
    let realtime = Realtime::start(settings, database, ring.clone(), keys.api_keys());
    Ok(Some(
        realtime.context("cannot start a thread for database changes")?,
    ))
}

/// Whether a request without a key is refused: in production, as by Supabase's gateway. The CLI's local gateway lets it pass.
fn requires_keys(config: &Config, mode: Mode) -> bool {
    mode == Mode::Production || config.selvedge.require_keys
}

/// Starts to watch the replicas of the database; `None` when there are none.
fn start_replicas(
    config: &Config,
    database: &Arc<Database>,
    memory: &MemoryPlan,
) -> Result<Option<Arc<Replicas>>> {
    let Some(section) = &config.selvedge.replicas else {
        return Ok(None);
    };
    let settings = translate::replicas::replicas_config(config, section, &memory.budget)?;
    Ok(Some(Replicas::start(database, settings)))
}

/// Makes the generator of pictures and starts its workers; `None` when the project has no table of jobs.
fn start_generator(
    config: &Config,
    database: &Arc<Database>,
    storage: Option<&Arc<Storage>>,
    mode: Mode,
) -> Result<Option<Arc<Generator>>> {
    let Some(section) = &config.selvedge.generator else {
        return Ok(None);
    };
    let storage = storage.context("[selvedge.generator] needs [storage], which is switched off")?;
    if section.url.is_none() && !config.storage.image_transformation {
        bail!("[selvedge.generator] without a url needs [storage.image_transformation] enabled = true");
    }
    let settings = translate::generator::generator_config(config, section, mode);
    let pictures = StoragePictures(ServiceObjects::new(storage.clone()));
    let generator = Generator::new(settings, database.clone(), Arc::new(pictures));
    let state = generator.clone();
    tokio::spawn(keep_running("generator", move || {
        run_generator_forever(state.clone())
    }));
    Ok(Some(generator))
}

/// Makes the functions service unless it is switched off. Its workers are watched on the runtime in which this is called.
fn make_functions(config: &Config, ring: &Arc<KeyRing>, keys: &KeySet, mode: Mode) -> Option<Functions> {
    config.functions.enabled.then(|| {
        let settings = translate::functions::functions_config(config, keys, ring, mode);
        let follows_changes = settings.reload;
        warn_of_refused_deno(&settings);
        let functions = Functions::new(
            settings,
            translate::functions::function_keys(keys, ring),
            translate::native_functions::native_functions(config, keys, mode),
        );
        if follows_changes {
            let source = SettingsSource {
                config: config.clone(),
                keys: keys.clone(),
                ring: Arc::clone(ring),
                mode,
            };
            let (changes, sessions) = mpsc::channel(1);
            tokio::spawn(follow_settings(functions.clone(), source, sessions));
            if mode == Mode::Development {
                tokio::spawn(accept_sessions(config.selvedge.data_dir.clone(), changes));
            }
        }
        functions
    })
}

/// Tells `/health/ready` why the REST service has no catalog yet; `None` when it has one or is switched off.
fn catalog_check(rest: Option<Arc<SchemaCache>>) -> CatalogCheck {
    Arc::new(move || {
        let health = rest.as_ref()?.health();
        (!health.loaded).then(|| health.failure.unwrap_or_else(|| "not loaded yet".to_owned()))
    })
}

/// Tells `/health/ready` why the other nodes cannot be reached; `None` for a node that runs alone.
fn broker_check(realtime: Option<Realtime>) -> Option<BrokerCheck> {
    let realtime = realtime.filter(Realtime::is_clustered)?;
    Some(Arc::new(move || realtime.find_cluster_fault()))
}
