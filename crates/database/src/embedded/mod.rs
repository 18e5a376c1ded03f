//! The project's own database: an embedded cluster with the platform schema, the project's migrations and its seeds.

pub mod http_requests;
pub mod own_database;
mod process_memory;
pub mod setting_size;
pub(crate) mod vault_secrets;
mod version_note;

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use selvedge_config::Config;
use selvedge_ports::{DATABASE_PORT, port_taken, wait_until_no_connection_has};
use selvedge_postgres::cluster::{
    Binaries, Cluster, ClusterAccess, ClusterConfig, ClusterError, ProjectLock, RunningCluster,
};
use selvedge_postgres::migrate::{
    self, DiscoveredMigrations, ExtensionUse, Migration, PrivilegeFault, SeedOutcome, SquashJournal,
    apply_auto_expose, apply_pending, apply_platform, apply_roles, apply_seeds, check_extensions,
    check_files, discover_files, discover_migrations, find_extension_uses, find_privilege_faults,
    find_role_faults, find_seeds, has_run_roles, is_platform_older, list_taken_memberships,
    take_back_memberships,
};
use selvedge_postgres::{Login, Logins, PrivilegedLogin, PrivilegedSession, ensure_template};
use selvedge_project_trust::{Program, list_refused, record_project};
use selvedge_terminal::{print_note, print_warnings};
use tokio_postgres::Client;

use crate::extensions::extension_advice::advise_on_missing_extensions;
use crate::instance::Ports;
use crate::queues::settle_queues;
use crate::service_logins;
use crate::state::home::{is_home, production_profile};
use crate::state::initialized::{is_initialized, settle_emptying};
use crate::state::unfinished_import;
use crate::state::unfinished_squash::finish_squash;
use crate::whole_cluster::cluster_roles;
use crate::whole_cluster::guarded_databases;
use crate::whole_cluster::harmful_settings::{list_harmful_settings, take_back_libraries};
use crate::whole_cluster::server_roles;
use crate::whole_cluster::unreadable_texts;
use own_database::connect_to_own_database;
use process_memory::process_memory;
use vault_secrets::write_vault_secrets;

/// Creates the partitions of the coming days, which Realtime does later on.
const MAINTAIN_PARTITIONS: &str = "select realtime.maintain_messages_partitions()";

/// Settings of the database that would keep migrations from running do not hold for them, so that it can always be started, and the
/// settings be taken back.
const ADMINISTRATOR_OPTIONS: &str = "-c role=none -c default_transaction_read_only=off -c statement_timeout=0 -c lock_timeout=0 \
     -c idle_session_timeout=0 -c idle_in_transaction_session_timeout=0 -c exit_on_error=off \
     -c default_transaction_isolation=read\\ committed -c local_preload_libraries= -c selvedge.without_login_triggers=on";

/// Ends the limit of the database for transactions, which versions before 17 do not know.
const WITHOUT_TRANSACTION_TIMEOUT: &str = "select pg_catalog.set_config('transaction_timeout', '0', false)
     where pg_catalog.current_setting('transaction_timeout', true) operator(pg_catalog.<>) '0'";

/// PostgreSQL's code for a session that `transaction_timeout` has ended.
const TRANSACTION_TIMEOUT: &str = "25P04";

/// A project may let every login load a library, and a login fails where the library is missing. Behind a pooler there are no options, so
/// services with a database of their own have none.
const SERVICE_OPTIONS: &str = "-c local_preload_libraries=";

/// Logins whose sessions may write while the disk is full and the database read-only: they write little, and people can sign in.
const LOGINS_THAT_WRITE_WHEN_FULL: [&str; 2] = ["supabase_auth_admin", "selvedge_console_service"];
const WRITING_OPTIONS: &str = "-c local_preload_libraries= -c default_transaction_read_only=off";

/// The default of `[db.seed] sql_paths`.
const DEFAULT_SEED: &str = "./seed.sql";

/// A running cluster with the project's schema.
pub struct Embedded {
    pub cluster: Cluster,
    /// What was applied by this start of the server.
    pub report: Report,
}

/// What a start has applied to the database.
#[derive(Debug, Default)]
pub struct Report {
    /// Whether no earlier start of this project has succeeded.
    pub is_first: bool,
    /// File names of the migrations applied now.
    pub migrations: Vec<String>,
    /// Names of the seed files run now.
    pub seeds: Vec<String>,
}

/// Says what an unset `auto_expose_new_tables` means, because versions of the Supabase CLI differ.
pub fn print_note_about_exposed_tables(config: &Config) {
    if config.api.auto_expose_new_tables.is_none() && migrations_folder(config).is_dir() {
        print_note(
            "api.auto_expose_new_tables is not set: anon, authenticated and service_role get rights on new tables of \
             public, and row-level security decides what they see, as with the Supabase CLI until June 2026. Later \
             versions grant nothing then. Set it to true or false in config.toml",
        );
    }
}

/// Starts the cluster without applying anything.
pub async fn start_cluster(config: &Config) -> Result<Cluster> {
    start_cluster_locked(config, None).await
}

async fn start_cluster_locked(config: &Config, lock: Option<ProjectLock>) -> Result<Cluster> {
    let mut cluster_config = cluster_config(config)?;
    cluster_config.template = ensure_template(&cluster_config).await;
    if cluster_config.listen_tcp && cluster_config.port != 0 {
        wait_until_no_connection_has(cluster_config.port, DATABASE_PORT).await;
    }
    let started = match lock {
        Some(lock) => Cluster::start_locked(cluster_config, lock).await,
        None => Cluster::start(cluster_config).await,
    };
    let cluster = started.map_err(|error| match error {
        ClusterError::PortTaken { port } => port_taken(port, DATABASE_PORT),
        other => anyhow!(other),
    })?;
    http_requests::serve_cluster(config, &cluster)?;
    record_project(config);
    Ok(cluster)
}

/// How the project's cluster is started.
pub fn cluster_config(config: &Config) -> Result<ClusterConfig> {
    let uses = extensions_of_migrations(config)?;
    let expected = config.db.major_version;
    let production = production_profile(config);
    // A command that ends uses the socket, so that it needs no port that another project may have. In production nobody else does.
    let listen_tcp = config.flags.purpose.is_server && production.is_none();
    Ok(ClusterConfig {
        project_id: config.project.id.clone(),
        state_dir: config.selvedge.data_dir.clone(),
        pg_bin: config.selvedge.pg_bin.clone(),
        refused: list_refused(config, Program::Postgresql),
        // Also the default, which is what the CLI runs.
        preferred_version: Some(u32::from(expected.number)),
        port: config.db.port,
        settings: config.db.settings.iter().cloned().collect(),
        extensions: uses.into_iter().map(|used| used.name).collect(),
        superuser_password: config.selvedge.superuser_password.clone(),
        service_ports: match production {
            // The server has a lock of its own.
            Some(_) => Vec::new(),
            None => Ports::to_lock(config),
        },
        purpose: config.flags.purpose.clone(),
        listen_tcp,
        process_memory: process_memory(config, production.as_ref()),
        production,
        ..ClusterConfig::for_project(&config.project.folder)
    })
}

/// The extensions that the project's migrations create, applied or not.
fn extensions_of_migrations(config: &Config) -> Result<Vec<ExtensionUse>> {
    if !config.db.migrations.enabled {
        return Ok(Vec::new());
    }
    // Also while a squash is unfinished, as what finishes it starts the cluster.
    let found = discover_files(&migrations_folder(config))?;
    let files: Vec<PathBuf> = found.migrations.into_iter().map(|file| file.path).collect();
    Ok(find_extension_uses(&files)?)
}

/// Refuses to make a database while a squash is unfinished.
fn refuse_unfinished_squash(config: &Config) -> Result<()> {
    if config.db.migrations.enabled {
        discover_migrations(&migrations_folder(config))?;
    }
    Ok(())
}

/// Reports all extensions that this machine lacks, before anything is created. Without it the first start would stop at
/// each of them in turn, with a database that is half made.
fn check_before_first_start(config: &Config) -> Result<()> {
    // In a database that exists the start finishes it.
    if !has_cluster(config) {
        refuse_unfinished_squash(config)?;
    }
    let cluster = cluster_config(config)?;
    check_extensions_of(config, &cluster, &cluster.find_binaries()?)
}

/// Reports files that cannot be run, and all extensions that this machine lacks, for a database that replaces the present one.
pub fn check_before_reset(config: &Config) -> Result<()> {
    check_files_before_reset(config)?;
    let cluster = cluster_config(config)?;
    check_extensions_of(config, &cluster, &cluster.find_binaries_for_new_database()?)
}

/// Reports files that cannot be run.
pub fn check_files_before_reset(config: &Config) -> Result<()> {
    let found = match config.db.migrations.enabled {
        true => discover_migrations(&migrations_folder(config))?,
        false => DiscoveredMigrations::default(),
    };
    check_files(&config.project.folder.join("roles.sql"), &found.migrations)?;
    Ok(())
}

/// Reports the extensions of the project's migrations that this machine lacks, each with the command that installs it.
pub fn check_extensions_here(config: &Config) -> Result<()> {
    let cluster = cluster_config(config)?;
    check_extensions_of(config, &cluster, &cluster.find_binaries()?)
}

fn check_extensions_of(config: &Config, cluster: &ClusterConfig, binaries: &Binaries) -> Result<()> {
    if let Some(installed) = cluster.list_extensions(binaries)? {
        // Warnings about those that are left out follow when the migrations run.
        check_extensions(
            &extensions_of_migrations(config)?,
            &installed,
            binaries.major_version(),
        )
        .map_err(|error| advise_on_missing_extensions(cluster, error))?;
    }
    Ok(())
}

impl Embedded {
    /// Starts the cluster and brings it up to date: platform schema, roles, migrations, and seeds on the first start.
    /// Buckets need the storage service and are filled by the caller, who then calls [`mark_initialized`](crate::initialized::mark_initialized).
    pub async fn start(config: &Config) -> Result<Self> {
        Self::start_with(config, None).await
    }

    /// As [`Embedded::start`], for a command that holds the project's lock already.
    pub async fn start_locked(config: &Config, lock: ProjectLock) -> Result<Self> {
        Self::start_with(config, Some(lock)).await
    }

    async fn start_with(config: &Config, lock: Option<ProjectLock>) -> Result<Self> {
        if !is_initialized(config) {
            check_before_first_start(config)?;
        }
        let cluster = start_cluster_locked(config, lock).await?;
        warn_about_version(config, &cluster);
        // On an error `cluster` is dropped, and its destructor ends PostgreSQL.
        let report = bring_up(config, &cluster).await?;
        Ok(Self { cluster, report })
    }

    /// The login of `postgres` over the unix socket, for migrations and commands.
    pub fn administrator_login(&self) -> tokio_postgres::Config {
        administrator_login(&self.cluster)
    }

    /// The services' logins over the unix socket.
    pub fn logins(&self) -> Logins {
        let login = |role: &str| service_login(&self.cluster, role);
        // On a laptop an admin of the console may do what migrations may do, schema changes included.
        service_logins(login)
            .with_login(Login::ConsoleAdmin, login("postgres"))
            .with_login(Login::Postgres, login("postgres"))
    }
}

/// The login of `postgres` to a cluster that this process has started, over the unix socket.
pub fn administrator_login(cluster: &Cluster) -> tokio_postgres::Config {
    login_as(&cluster.access(), "postgres")
}

/// The login of a role to a cluster of this program, whoever runs it: of `postgres` for statements of the project, and of a service's role.
pub fn login_as(access: &ClusterAccess, role: &str) -> tokio_postgres::Config {
    let mut login = access.login_of(role);
    match role {
        "postgres" => pin_settings(&mut login),
        _ => {
            login.options(SERVICE_OPTIONS);
        }
    }
    login
}

/// Lets a login begin with settings under which statements of the project can run, whatever the settings of the database are. Options
/// that it has already win over these.
pub fn pin_settings(login: &mut tokio_postgres::Config) {
    let given = login.get_options().unwrap_or_default().to_owned();
    login.options(format!("{ADMINISTRATOR_OPTIONS} {given}").trim_end());
}

/// The login of a service's role to a cluster that this process has started.
pub fn service_login(cluster: &Cluster, role: &str) -> tokio_postgres::Config {
    service_login_to(&cluster.access(), role)
}

/// The login of a service's role, which may be `postgres`.
pub fn service_login_to(access: &ClusterAccess, role: &str) -> tokio_postgres::Config {
    let mut login = access.login_of(role);
    let writes = access.is_production() && LOGINS_THAT_WRITE_WHEN_FULL.contains(&role);
    login.options(if writes { WRITING_OPTIONS } else { SERVICE_OPTIONS });
    login
}

/// Whether the project has a cluster: the superuser's password is kept from its creation on.
pub fn has_cluster(config: &Config) -> bool {
    config.selvedge.data_dir.join("superuser-password").exists()
}

/// Applies what is missing of the platform's schema and the project's settings of it, and gives its roles their passwords;
/// returns the superuser's connection.
pub async fn apply_platform_to(config: &Config, cluster: &Cluster) -> Result<PrivilegedSession> {
    apply_platform_with(
        config,
        &cluster.access(),
        is_first_start(config, cluster.is_new()),
    )
    .await
}

/// As [`apply_platform_to`], to a cluster that another process may run.
pub async fn apply_platform_with(
    config: &Config,
    access: &ClusterAccess,
    is_first_start: bool,
) -> Result<PrivilegedSession> {
    let superuser = connect_to_own_database(&access.superuser_login()).await?;
    settle_emptying(config, &superuser).await?;
    let platform = apply_platform(&superuser).await?;
    unreadable_texts::replace_unreadable_texts(&access.superuser_login(), &superuser).await?;
    let taken = list_taken_memberships(&superuser, true).await?;
    print_warnings(&take_back_memberships(&superuser, &taken).await?);
    server_roles::reserve(&superuser).await?;
    print_warnings(&take_back_libraries(&superuser).await?);
    guarded_databases::guard_databases(&access.superuser_login(), &superuser).await?;
    let has_new_roles = is_first_start || !platform.applied.is_empty();
    cluster_roles::set_passwords(access, &superuser, has_new_roles).await?;
    // Looking at every object takes a while, so it is done after an upgrade, and by `selvedge doctor`.
    match platform.applied.is_empty() || platform.is_first {
        true => warn_of_faults(&find_role_faults(&superuser).await?),
        false => warn_of_privileges(&superuser).await?,
    }
    // Noted here, because any command may be the first one that runs migrations, which may change the default privileges.
    apply_auto_expose(&superuser, exposes_new_tables(config), is_first_start).await?;
    Ok(superuser)
}

/// Brings the platform schema of a running project up to date, as the next start would, when an older version of this program has made it.
pub async fn bring_platform_up_to_date(
    running: &RunningCluster,
    superuser: &PrivilegedSession,
) -> Result<()> {
    if !is_platform_older(superuser).await? {
        return Ok(());
    }
    apply_platform(superuser).await?;
    guarded_databases::guard_databases(&running.superuser_login(), superuser).await?;
    cluster_roles::set_passwords(running.access(), superuser, true).await?;
    print_warnings(&["an older version of selvedge runs the project: the platform schema is up to date now, its server is not\n  \
         start the project again:  selvedge stop, selvedge start"
        .to_owned()]);
    Ok(())
}

/// Whether the API's roles get rights on new tables of `public`. Compat: Supabase grants them unless the project disables it.
pub fn exposes_new_tables(config: &Config) -> bool {
    config.api.auto_expose_new_tables.unwrap_or(true)
}

fn is_first_start(config: &Config, is_new: bool) -> bool {
    is_new || !is_initialized(config)
}

async fn bring_up(config: &Config, cluster: &Cluster) -> Result<Report> {
    let superuser = apply_platform_to(config, cluster).await?;
    let is_first = is_first_start(config, cluster.is_new());
    check_usable(config, &superuser).await?;
    drop(superuser);
    // From here on as `postgres`, which is not a superuser, as on Supabase: a migration that works here works there.
    let mut administrator = connect(&administrator_login(cluster)).await?;
    let migrations = bring_up_project(config, &mut administrator, is_first).await?;
    let seeds = if is_first && !is_home(config) {
        run_seeds(config, &administrator).await?
    } else {
        Vec::new()
    };
    Ok(Report {
        is_first,
        migrations,
        seeds,
    })
}

/// Refuses a database that cannot be served, and warns of settings that harm.
pub async fn check_usable(config: &Config, superuser: &PrivilegedSession) -> Result<()> {
    // The database may have been started before the import, so this is asked at every start.
    if unfinished_import::find(superuser).await?.is_some() {
        bail!(
            "an import into {} was cut off\n  go on with it:    selvedge import (with the same source)\n  or discard it:    \
             selvedge reset",
            config.project.id
        );
    }
    warn_of_harmful_settings(superuser).await
}

/// Applies roles and migrations of the project; returns the file names of the migrations. `roles.sql` runs at the first start, in a home with the
/// first migrations, as starts there apply nothing of the project.
pub async fn bring_up_project(
    config: &Config,
    administrator: &mut Client,
    is_first: bool,
) -> Result<Vec<String>> {
    let runs_roles = match is_home(config) {
        true => !has_run_roles(administrator).await?,
        false => is_first,
    };
    if runs_roles {
        // Roles come before migrations, because migrations may grant rights to them.
        let roles = config.project.folder.join("roles.sql");
        apply_roles(administrator, &roles, |line| print_warnings(&[line])).await?;
    }
    if config.db.migrations.enabled
        && let Some(journal) = SquashJournal::find(&migrations_folder(config))?
    {
        finish_squash(administrator, journal).await?;
    }
    apply_migrations(config, administrator).await
}

/// Writes the project's secrets, which migrations may refer to, then applies its pending migrations as `postgres`, and opens or closes
/// queues; returns the file names of the migrations.
pub async fn apply_migrations(config: &Config, administrator: &Client) -> Result<Vec<String>> {
    let applied = apply_files(config, administrator).await?;
    // Who keeps the server from changing the schema keeps it from this, too.
    if config.db.migrations.enabled {
        settle_queues(config.selvedge.queues.expose, administrator).await?;
    }
    Ok(applied)
}

async fn apply_files(config: &Config, administrator: &Client) -> Result<Vec<String>> {
    // Migrations may send messages. As `postgres`: it may replace the function, so a superuser must not call it.
    if let Err(error) = administrator.execute(MAINTAIN_PARTITIONS, &[]).await {
        print_warnings(&[format!(
            "the partitions of realtime.messages could not be made: {}",
            error
                .as_db_error()
                .map_or_else(|| error.to_string(), |db| db.message().to_owned())
        )]);
    }
    write_vault_secrets(administrator, &config.db.vault).await?;
    if !config.db.migrations.enabled {
        return Ok(Vec::new());
    }
    let found = discover_migrations(&migrations_folder(config))?;
    print_warnings(&found.warnings);
    let warn = |line: String| print_warnings(&[line]);
    let applied = apply_pending(administrator, &found.migrations, warn).await;
    let applied = match (applied, &config.selvedge.database_url) {
        (Err(error), None) => {
            return Err(advise_on_missing_extensions(&cluster_config(config)?, error).into());
        }
        // With a server of its own, advice about packages of this machine would not help.
        (applied, _) => applied?,
    };
    Ok(applied.into_iter().map(file_name).collect())
}

/// The folder of the project's migrations.
pub fn migrations_folder(config: &Config) -> PathBuf {
    config.project.folder.join("migrations")
}

/// Runs the project's seeds that have not run as `postgres`; returns their names.
pub async fn run_seeds(config: &Config, administrator: &Client) -> Result<Vec<String>> {
    // Without a project folder there are no seeds, so no warning about missing ones.
    if !config.db.seed.enabled || !config.project.folder.is_dir() {
        return Ok(Vec::new());
    }
    let (seeds, warnings) = find_seeds(&config.project.folder, &config.db.seed.sql_paths)?;
    // `supabase init` names ./seed.sql in every project, and few have that file: no warning for the default.
    if config.db.seed.sql_paths != [DEFAULT_SEED] {
        print_warnings(&warnings);
    }
    let outcomes = apply_seeds(administrator, &seeds, |line| print_warnings(&[line])).await?;
    let applied = outcomes
        .into_iter()
        .filter(|(_, outcome)| *outcome == SeedOutcome::Applied);
    Ok(applied.map(|(seed, _)| seed.name.clone()).collect())
}

/// The name of a migration's file.
pub fn file_name(migration: &Migration) -> String {
    let name = migration.path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn warn_about_version(config: &Config, cluster: &Cluster) {
    let running = cluster.binaries().major_version();
    if let Some(note) = version_note::describe_version(config.db.major_version, running, cluster.is_new()) {
        print_note(&note);
    }
}

/// Connection settings for one role of a running instance, which another process started.
pub fn login_to_running(running: &RunningCluster, role: &str) -> tokio_postgres::Config {
    login_as(running.access(), role)
}

/// Connects to the project's own database, as a role that is no superuser.
pub async fn connect(login: &tokio_postgres::Config) -> Result<Client> {
    match open_session(login).await {
        // Already the transaction of the login took longer.
        Err(error)
            if error
                .code()
                .is_some_and(|code| code.code() == TRANSACTION_TIMEOUT) =>
        {
            let mut login = login.clone();
            let given = login.get_options().unwrap_or_default().to_owned();
            login.options(format!("{given} -c transaction_timeout=0").trim_start());
            open_session(&login).await
        }
        outcome => outcome,
    }
    .context(LOGIN_FAILED)
}

async fn open_session(login: &tokio_postgres::Config) -> Result<Client, tokio_postgres::Error> {
    let client = selvedge_postgres::connect(login).await?;
    client.batch_execute(WITHOUT_TRANSACTION_TIMEOUT).await?;
    Ok(client)
}

/// Connects to the project's own database as the superuser.
pub async fn connect_privileged(login: &PrivilegedLogin) -> Result<PrivilegedSession> {
    login.connect().await.context(LOGIN_FAILED)
}

const LOGIN_FAILED: &str = "cannot log in to the project's database";

/// Says which settings of the database may keep its services from working, before they fail.
pub async fn warn_of_harmful_settings(superuser: &Client) -> Result<()> {
    for setting in list_harmful_settings(superuser).await? {
        print_warnings(&[format!("{}\n  {}", setting.describe(), setting.advice())]);
    }
    Ok(())
}

/// Names what gives more rights than the platform schema does. An earlier version may have let somebody take them.
pub async fn warn_of_privileges(session: &Client) -> Result<()> {
    let mut faults = find_privilege_faults(session).await?;
    faults.extend(find_role_faults(session).await?);
    warn_of_faults(&faults);
    Ok(())
}

fn warn_of_faults(faults: &[PrivilegeFault]) {
    let lines: Vec<String> = faults
        .iter()
        .map(|fault| format!("{}, but: {}", fault.rule, fault.object))
        .collect();
    print_warnings(&lines);
}

/// The project's migrations, each applied, pending or missing as a file; for `migrate list`.
pub async fn list_migrations(
    config: &Config,
    administrator: &Client,
) -> Result<Vec<migrate::MigrationStatus>> {
    let found = discover_migrations(&migrations_folder(config))?;
    print_warnings(&found.warnings);
    Ok(migrate::list_migrations(administrator, &found.migrations).await?)
}
