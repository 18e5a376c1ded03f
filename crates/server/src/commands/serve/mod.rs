//! `selvedge serve`: runs the project in production, with secret keys, on a database of its own or on an external one.

mod gate;
mod https;
mod own_database;
mod serving;

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use actix_web::web;
use anyhow::{Result, bail};
use nix::sys::stat::{Mode as FileMode, umask};
use selvedge_config::{Config, Environment, Mode};
use selvedge_database::capacity::ConnectionCount;
use selvedge_database::external::ExternalDatabase;
use selvedge_gateway::logging::LogFormat;
use selvedge_keys::KeySet;
use selvedge_ports::close_unused_ports;
use selvedge_postgres::cluster::{Cluster, mark_external_use};
use selvedge_postgres::migrate::is_platform_applied;
use selvedge_postgres::{Logins, PrivilegedSession};
use tokio::sync::oneshot;

pub(super) use self::own_database::prepare_home;
use self::own_database::{OwnDatabase, check_named};
use super::cluster::restart_when_asked;
use super::handover::{HandoverRequests, Predecessor};
use super::logging::start_logging;
use super::{enter_served_project, keeper, shutdown};
use crate::cli::ServeArgs;
use crate::http::StatusPage;
use crate::server::{self, RootContent};
use crate::services::{BackgroundRuntime, Services, watch_disk};

/// The default address: all interfaces, because a production server is reached from other machines.
const ANY_ADDRESS: &str = "0.0.0.0";
const LOOPBACK: &str = "127.0.0.1";

/// The variable by which PostgreSQL's images get their superuser's password. Files that were written for several services have it.
const SUPERUSER_PASSWORD: &str = "POSTGRES_PASSWORD";

/// Hides what actix logs about its threads and tokio-postgres about server notices at `info`.
const DEFAULT_LOG_FILTER: &str = "info,actix_server=warn,tokio_postgres=warn";

/// Roles as which services log in or which they become, and that are superusers.
const SUPERUSERS: &str = "
    select r.rolname::pg_catalog.text from pg_catalog.pg_roles as r
    where r.rolsuper and (r.rolname operator(pg_catalog.=) any (array[
      'authenticator', 'anon', 'authenticated', 'service_role', 'supabase_auth_admin', 'supabase_storage_admin',
      'supabase_replication_admin', 'selvedge_console_reader', 'selvedge_console_operator', 'selvedge_console_service'
    ]::pg_catalog.name[]) or r.rolname operator(pg_catalog.~) '^selvedge_console_reader_[0-9]+$'::pg_catalog.text)
    order by 1";

/// The database that is served.
enum ServedDatabase {
    External(ExternalDatabase),
    Own(OwnDatabase),
}

/// Runs `selvedge serve` until a signal arrives.
///
/// # Errors
/// When a key is missing or well known, a port is in use, or the database cannot be used.
pub(super) async fn run(config: Config, args: &ServeArgs) -> Result<()> {
    let started = Instant::now();
    start_logging(&config, LogFormat::Json, DEFAULT_LOG_FILTER);
    let mut predecessor = Predecessor::receive()?;
    let outcome = serve(&config, args, &mut predecessor, started).await;
    if let (Err(error), Some(predecessor)) = (&outcome, &predecessor) {
        predecessor.report_failure(error);
    }
    outcome
}

/// Serves; takes over from `predecessor` if there is one.
async fn serve(
    config: &Config,
    args: &ServeArgs,
    predecessor: &mut Option<Predecessor>,
    started: Instant,
) -> Result<()> {
    check_providers(config)?;
    let external = ExternalDatabase::of_project(config)?;
    // What can be refused is refused before a port is opened; the keys of a home are read as its owner.
    let given_keys = check_start(config, external.as_ref(), args)?;
    warn_of_superuser_password();
    // Before connecting to the database, so that a port in use is reported first.
    let listeners = serving::Listeners::bind(config)?;
    for address in close_unused_ports() {
        tracing::info!(%address, "a port of the server before is named by no setting any more");
    }
    enter_served_project(config)?;
    // From here on a signal is remembered, also while the services are still connecting.
    let mut signals = shutdown::Signals::listen_in_production()?;
    let mut requests = HandoverRequests::listen()?;
    let lock = predecessor.as_mut().and_then(Predecessor::take_lock);
    let opened = tokio::select! {
        opened = open_database(config, external, args.migrate, lock) => opened,
        () = signals.next() => bail!("interrupted while the database was starting"),
    };
    let mut database = opened?;
    if matches!(database, ServedDatabase::Own(_)) {
        // As root others may pass through the home.
        umask(FileMode::S_IRWXG | FileMode::S_IRWXO);
    }
    let keys = match given_keys {
        Some(keys) => keys,
        None => KeySet::for_home(config)?,
    };
    let background = BackgroundRuntime::new()?;
    let services = connect(&background, config, &database, &keys).await?;
    let watch = watch_keeper(config, &mut database, &services);
    let is_successor = predecessor.is_some();
    if is_successor {
        serving::wait_until_ready(&services).await?;
    }
    let serving = serving::start(config, &keys, &database, &services, listeners, is_successor).await?;
    let database = serving::take_over(config, database, &mut requests, predecessor)?;
    log_serving(config, started);
    let is_handed_over = serving
        .wait_for_end(config, &database, signals, requests, watch)
        .await?;
    drop((services, background));
    close_database(config, database, is_handed_over).await
}

/// Releases the home, or leaves its lock to the process that has taken over.
async fn close_database(config: &Config, database: ServedDatabase, is_handed_over: bool) -> Result<()> {
    match database {
        ServedDatabase::Own(own) if is_handed_over => own.leave_to_successor(),
        ServedDatabase::Own(own) => {
            drop(own);
            if shutdown::is_first_process() {
                keeper::stop(config).await?;
            }
        }
        ServedDatabase::External(_) => {}
    }
    match is_handed_over {
        true => tracing::info!("stopped, as another process serves"),
        false => tracing::info!("stopped"),
    }
    Ok(())
}

fn host(config: &Config) -> &str {
    config.selvedge.host.as_deref().unwrap_or(ANY_ADDRESS)
}

/// With certificates that are obtained, the API without TLS is for this machine alone: health checks, and whoever serves beside it.
fn api_host(config: &Config) -> &str {
    match config.acme() {
        Some(_) => LOOPBACK,
        None => host(config),
    }
}

fn log_serving(config: &Config, started: Instant) {
    tracing::info!(
        host = host(config),
        port = config.api.port,
        url = config.api_url(),
        startup_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        version = env!("CARGO_PKG_VERSION"),
        "serving"
    );
}

fn own_socket(database: &ServedDatabase) -> Option<PathBuf> {
    match database {
        ServedDatabase::Own(own) => Some(own.socket()),
        ServedDatabase::External(_) => None,
    }
}

/// Refuses what cannot be served, and returns the keys for an external database.
fn check_start(
    config: &Config,
    external: Option<&ExternalDatabase>,
    args: &ServeArgs,
) -> Result<Option<KeySet>> {
    if external.is_none() {
        check_named(config)?;
        return Ok(None);
    }
    if args.migrate {
        bail!(
            "with DATABASE_URL `serve` changes no schema\n  apply pending migrations before:  selvedge migrate up --external"
        );
    }
    let keys = KeySet::for_production(config)?;
    warn_of_pooler(config);
    Ok(Some(keys))
}

/// Checks the external database, or starts the home's own one.
async fn open_database(
    config: &Config,
    external: Option<ExternalDatabase>,
    migrate: bool,
    lock: Option<OwnedFd>,
) -> Result<ServedDatabase> {
    let Some(database) = external else {
        prepare_home(config)?;
        return Ok(ServedDatabase::Own(
            OwnDatabase::open(config, migrate, lock).await?,
        ));
    };
    let session = check_platform(&database).await?;
    warn_of_connections(config, &session).await;
    drop(session);
    note_external_use(config);
    warn_of_refused_replication(config, &database).await;
    Ok(ServedDatabase::External(database))
}

/// Notes in the data folder that its server has a database elsewhere, so that without `DATABASE_URL` none is made there.
fn note_external_use(config: &Config) {
    if !config.is_data_dir_named() {
        return;
    }
    if let Err(error) = mark_external_use(&config.selvedge.data_dir) {
        tracing::debug!(%error, "the data folder cannot be written");
    }
}

/// Starts to watch the process that keeps PostgreSQL running, and the disk, until the returned value is dropped.
fn watch_keeper(
    config: &Config,
    database: &mut ServedDatabase,
    services: &Services,
) -> Option<oneshot::Sender<()>> {
    let ServedDatabase::Own(own) = database else {
        return None;
    };
    let restarts = own.take_restarts()?;
    if config.selvedge.functions.database_access {
        tracing::warn!(
            "functions get no SUPABASE_DB_URL: the home's PostgreSQL listens on its own socket only"
        );
    }
    let (stop, stopped) = oneshot::channel();
    let (config, health, hold) = (config.clone(), services.health(), services.hold.clone());
    let (database, storage) = (services.database().clone(), services.storage().cloned());
    let data_home = Cluster::data_home(&config.selvedge.data_dir).ok();
    actix_web::rt::spawn(async move {
        let folder = data_home.as_deref().unwrap_or(&config.selvedge.data_dir);
        tokio::select! {
            () = keeper::watch(&config, |runs| health.set_database_restarting(!runs)) => {}
            () = watch_disk(folder, &database, storage) => {}
            () = restart_when_asked(restarts, &config, &hold) => {}
            _ = stopped => {}
        }
    });
    Some(stop)
}

/// Says why Realtime will deliver no row changes, where the database refuses its login.
async fn warn_of_refused_replication(config: &Config, database: &ExternalDatabase) {
    if !config.realtime.enabled {
        return;
    }
    let folder = &config.selvedge.data_dir;
    if let Some(refusal) = database.explain_refused_replication(folder).await {
        tracing::warn!("{refusal}");
    }
}

fn warn_of_superuser_password() {
    let password = Environment::of_process().get(SUPERUSER_PASSWORD).map(str::len);
    if password.is_some_and(|length| length > 0) {
        tracing::warn!(
            "{SUPERUSER_PASSWORD} is in the environment of the server, which needs none: whoever reads it is the database's superuser"
        );
    }
}

/// Checks that the platform schema is applied. `serve` never applies it, because its login may be no superuser and several
/// instances may start at the same time.
///
/// A superuser in the URL is refused: functions, jobs and every fault of a service would have the rights of the database's machine.
async fn check_platform(database: &ExternalDatabase) -> Result<PrivilegedSession> {
    let session = database.connect().await?;
    if session.is_superuser() {
        bail!(
            "DATABASE_URL names a superuser, whose rights the services must not have\n  use the login authenticator, with the password \
             that `selvedge migrate up` has set (SELVEDGE_SERVICE_PASSWORD): docs/operations.md"
        );
    }
    let superusers = session.query(SUPERUSERS, &[]).await?;
    let names: Vec<&str> = superusers.iter().map(|row| row.get(0)).collect();
    if !names.is_empty() {
        bail!(
            "services would have the rights of a superuser: {}\n  take them away:  alter role … nosuperuser",
            names.join(", ")
        );
    }
    if !is_platform_applied(&session).await? {
        bail!(
            "the database lacks the platform schema, or an older version made it\n  bring it up to date with:  selvedge migrate up --external"
        );
    }
    Ok(session)
}

/// Says when all nodes together may open more connections than the database allows: then requests fail while statements run long.
async fn warn_of_connections(config: &Config, session: &PrivilegedSession) {
    match ConnectionCount::read(config, session).await {
        Ok(count) if count.exceeds() => tracing::warn!(
            nodes = count.nodes,
            connections_of_a_node = count.of_node,
            allowed = count.allowed,
            "under load the nodes may open more connections than the database allows: raise max_connections, or lower `workers`, PGRST_DB_POOL \
             or `service_connections` (docs/scaling.md)"
        ),
        Ok(_) => {}
        Err(error) => tracing::debug!(%error, "the connections of the database could not be counted"),
    }
}

async fn connect(
    background: &BackgroundRuntime,
    config: &Config,
    database: &ServedDatabase,
    keys: &KeySet,
) -> Result<Arc<Services>> {
    // Whether the console may change the schema determines the console's login, so it is decided here.
    let schema_changes = config.console.schema_changes;
    let (logins, owner): (Logins, tokio_postgres::Config) = match database {
        ServedDatabase::External(database) => (database.logins(schema_changes), database.postgres_login()),
        ServedDatabase::Own(database) => (database.logins(schema_changes), database.postgres_login()),
    };
    let services = Services::connect(background, config, logins, keys, Mode::Production)
        .await?
        .with_meta(config, owner)
        .await?;
    Ok(Arc::new(services))
}

/// Says what does not work behind a transaction pooler, for which prepared statements are switched off: there a session of the
/// database is not this server's own, and replication is not passed on.
fn warn_of_pooler(config: &Config) {
    if config.rest_settings().0.prepared_statements {
        return;
    }
    let parts = [
        (
            true,
            "changes of the schema are seen after a restart, as notifications do not arrive",
        ),
        (
            config.auth.enabled,
            "auth needs a pooler that supports prepared statements",
        ),
        (
            config.storage.enabled,
            "storage needs a pooler that supports prepared statements",
        ),
        (config.realtime.enabled, "realtime needs a direct connection"),
        (
            config.selvedge.jobs.enabled,
            "jobs of pg_cron and pg_net need a direct connection",
        ),
    ];
    for (is_enabled, limit) in parts {
        if is_enabled {
            tracing::warn!(
                limit,
                "db-prepared-statements is off: if DATABASE_URL leads to a transaction pooler"
            );
        }
    }
}

/// Refuses a provider that cannot work. One whose credentials are the development ones is left out, so that a project
/// that signs in with an invented person on a laptop starts here without changes.
fn check_providers(config: &Config) -> Result<()> {
    for provider in &config.auth.external {
        if provider.client_id.is_empty() {
            bail!(
                "auth.external.{}.enabled is true, so client_id must be set",
                provider.name
            );
        }
        if provider.is_for_development() {
            let name = &provider.name;
            tracing::warn!("auth.external.{name} has the client id \"dev\", so sign-in with it is off");
        }
    }
    Ok(())
}

fn root_content(config: &Config, keys: &KeySet) -> Result<RootContent> {
    match &config.selvedge.site {
        Some(folder) => server::load_site(folder, config, keys, None),
        None => Ok(RootContent::StatusPage(web::Data::new(
            StatusPage::for_production(),
        ))),
    }
}
