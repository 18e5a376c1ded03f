//! The database that a command works on: that of `--db-url`, `--linked` or the process's `DATABASE_URL`, else the project's own.

use std::ops::Deref;

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_postgres::cluster::{Cluster, ClusterAccess, DATABASE, RunningCluster};
use selvedge_postgres::migrate::{MigrateError, is_platform_older, refuse_newer_platform};
use selvedge_postgres::{PrivilegedSession, find_primary};
use selvedge_terminal::{DIM, print_note};
use tokio_postgres::{Client, Config as Login};

use crate::embedded::{self, Embedded};
use crate::external::ExternalDatabase;
use crate::state::home::is_home;

/// The login of the console itself.
const CONSOLE_LOGIN: &str = "selvedge_console_service";

/// A database that accepts connections.
pub enum TargetDatabase {
    /// A database on a server that this program does not run.
    External(Box<ExternalDatabase>),
    /// The database of the running instance.
    Running(Box<RunningCluster>),
}

impl TargetDatabase {
    /// The database of `--db-url` or `DATABASE_URL`, else that of the running instance; `None` when the project does not
    /// run. A `DATABASE_URL` of the process that leads to the running instance, as programs of the project need it, is that
    /// instance. Says on standard error which one a writing command works on, before anything is sent to it.
    ///
    /// # Errors
    /// While another command has the project for itself, or when another server answers at the project's socket; for a command that writes
    /// also when a newer version of this program has brought the database up to date.
    pub async fn find(config: &Config) -> Result<Option<Self>> {
        let external = ExternalDatabase::of_project(config)?.filter(|database| !leads_home(config, database));
        let found = match external {
            Some(mut database) => {
                if config.flags.writes {
                    refuse_other_project(config, &mut database).await?;
                }
                Some(Self::External(Box::new(database)))
            }
            None => RunningCluster::find(&config.selvedge.data_dir)
                .await?
                .map(|running| Self::Running(Box::new(running))),
        };
        announce(config, found.as_ref());
        if config.flags.writes
            && let Some(found) = &found
        {
            refuse_newer(found).await?;
        }
        Ok(found)
    }

    /// As [`TargetDatabase::find`], for commands that start the project's own cluster when there is no other database.
    ///
    /// # Errors
    /// When that would be the project's first one although a file of the project names another database: whoever runs the project
    /// on that database would work on an empty one.
    pub async fn find_or_allow_start(config: &Config) -> Result<Option<Self>> {
        let found = Self::find(config).await?;
        match &config.selvedge.ignored_database_url {
            Some(address) if found.is_none() && !embedded::has_cluster(config) => bail!(
                "which database? {address}, which a file of the project names:  add --external\n  or a new one of the project's \
                 own, in this folder:  add --local"
            ),
            _ => Ok(found),
        }
    }

    /// As [`TargetDatabase::find`], for commands that need a running project.
    ///
    /// # Errors
    /// When the project does not run, as well.
    pub async fn find_required(config: &Config) -> Result<Self> {
        match Self::find(config).await? {
            Some(found) => Ok(found),
            None => bail!(
                "{} is not running\n  start it with:  selvedge start\n  or name another database with --db-url",
                config.project.id
            ),
        }
    }

    /// Opens a session for statements of the project, with the rights of `postgres`, as which everything of the project is made. It
    /// was not authenticated as a superuser, so no statement can make it one.
    pub async fn connect(&self) -> Result<Client> {
        match self {
            Self::Running(running) => {
                embedded::connect(&embedded::login_to_running(running, "postgres")).await
            }
            Self::External(database) => database.connect_as_postgres().await,
        }
    }

    /// Opens a session that writes accounts of the console: that of the console's own login, or the superuser's of the URL, whose tables they are.
    async fn connect_as_console(&self) -> Result<ConsoleWriter> {
        match self {
            Self::Running(running) => connect_console_login(console_login_to(running.access())).await,
            Self::External(database) => {
                let session = database.connect().await?;
                if session.is_superuser() {
                    return Ok(ConsoleWriter::Superuser(session));
                }
                let mut login = database.service_login(CONSOLE_LOGIN);
                // Poolers in transaction mode refuse startup options.
                if session.takes_options() {
                    embedded::pin_settings(&mut login);
                }
                connect_console_login(login).await.with_context(|| {
                    format!(
                        "only {CONSOLE_LOGIN} and superusers write accounts of the console: set SELVEDGE_CONSOLE_PASSWORD as for `serve`, or \
                         name a superuser in DATABASE_URL; for the database at {}",
                        database.address()
                    )
                })
            }
        }
    }

    /// Runs `work`, for other programs, with a login that has the rights of `postgres`.
    pub async fn with_login<T>(&self, work: impl FnOnce(&Login) -> Result<T>) -> Result<T> {
        match self {
            Self::Running(running) => work(&embedded::login_to_running(running, "postgres")),
            Self::External(database) => {
                let (login, run) = database.find_postgres_login().await?;
                // Other programs take the hosts in order, also a frozen one and a former primary.
                let outcome = match find_primary(&login).await {
                    Ok(login) => work(&login),
                    Err(error) => {
                        Err(error).with_context(|| format!("no primary answers at {}", database.describe()))
                    }
                };
                if let Some(run) = run {
                    run.drop_role().await?;
                }
                outcome
            }
        }
    }
}

/// A session that writes accounts of the console.
enum ConsoleWriter {
    Login(Client),
    Superuser(PrivilegedSession),
}

impl Deref for ConsoleWriter {
    type Target = Client;

    fn deref(&self) -> &Client {
        match self {
            Self::Login(client) => client,
            Self::Superuser(session) => session,
        }
    }
}

/// The console's login to a cluster of this program. Settings of the database do not keep it from writing.
fn console_login_to(access: &ClusterAccess) -> Login {
    let mut login = access.login_of(CONSOLE_LOGIN);
    embedded::pin_settings(&mut login);
    login
}

async fn connect_console_login(login: Login) -> Result<ConsoleWriter> {
    let client = embedded::connect(&login).await?;
    // The database's own path may be one of the project, with functions of other meanings.
    client
        .batch_execute("set search_path = pg_catalog, pg_temp")
        .await?;
    Ok(ConsoleWriter::Login(client))
}

/// Whether the process's `DATABASE_URL` names the port of the project's own running PostgreSQL.
fn leads_home(config: &Config, database: &ExternalDatabase) -> bool {
    config.selvedge.is_database_of_process
        && Cluster::find_running(&config.selvedge.data_dir).is_ok_and(|holder| {
            holder.is_some_and(|holder| database.is_at_local_port(holder.shown_database_port(), DATABASE))
        })
}

/// Refuses the server of another project of this machine that the process's `DATABASE_URL` has led to: the variable was set for whatever
/// listened at that address then. Who names it by a flag means it.
async fn refuse_other_project(config: &Config, database: &mut ExternalDatabase) -> Result<()> {
    // Without a project here there is no other one that could be meant.
    let is_of_process = config.selvedge.is_database_of_process && config.project.folder.is_dir();
    let address = database.address();
    match database.find_other_project(&config.selvedge.data_dir).await? {
        Some(id) if is_of_process => bail!(
            "DATABASE_URL leads to the database of another project, {id}, which listens at {address} now. Nothing was changed\n  for \
             this project:     unset DATABASE_URL\n  for the other one:    name it with a flag, such as --db-url"
        ),
        _ => Ok(()),
    }
}

/// Refuses a database that a newer version of this program has brought up to date. One that cannot be reached is for the command to name; one
/// that refuses the login may let the command in a moment later.
async fn refuse_newer(target: &TargetDatabase) -> Result<()> {
    let session = match target {
        TargetDatabase::Running(running) => embedded::connect_privileged(&running.superuser_login()).await?,
        TargetDatabase::External(database) => match database.connect().await {
            Ok(session) => session,
            Err(error) if is_refused(&error) => return Err(error),
            Err(_) => return Ok(()),
        },
    };
    Ok(refuse_newer_platform(&session).await?)
}

/// Refuses a database whose platform schema an older version of this program has made: the console's tables have other names there.
async fn refuse_older(client: &Client) -> Result<()> {
    match is_platform_older(client).await {
        Ok(true) | Err(MigrateError::NoPlatform) => Err(MigrateError::NoPlatform.into()),
        // Whether a newer one is a fault depends on the command.
        Ok(false) | Err(_) => Ok(()),
    }
}

/// Whether a server has answered with an error.
fn is_refused(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let cause = cause.downcast_ref::<tokio_postgres::Error>();
        cause.is_some_and(|cause| cause.as_db_error().is_some())
    })
}

/// Prints host, port and database of the target: always of one that is not the project's own, and of that one before a
/// command that writes.
fn announce(config: &Config, target: Option<&TargetDatabase>) {
    let is_own = !matches!(target, Some(TargetDatabase::External(_)));
    if let Some(address) = config.selvedge.ignored_database_url.as_ref().filter(|_| is_own) {
        print_note(&format!(
            "this command works on the project's own database. {address}, which a file of the project names, is for `selvedge \
             serve`; to work on that one, add --external, or set DATABASE_URL in the shell"
        ));
    }
    let place = match target {
        Some(TargetDatabase::External(database)) => database.describe(),
        _ if !config.flags.writes => return,
        Some(TargetDatabase::Running(running)) => match running.holder().shown_database_port() {
            0 => format!("{}, its own, running", config.project.id),
            port => format!(
                "{}, its own, running at 127.0.0.1:{port}/postgres",
                config.project.id
            ),
        },
        None => format!("{}, its own, not running", config.project.id),
    };
    anstream::eprintln!("{DIM}database:{DIM:#} {place}");
}

/// Runs `work` on the database as `postgres`. When the project does not run, its cluster is started for that and stopped
/// afterwards, without applying migrations.
pub async fn run_on_database<T>(
    config: &Config,
    work: impl AsyncFnOnce(&mut Client) -> Result<T>,
) -> Result<T> {
    run_on_found(config, TargetDatabase::find_or_allow_start(config).await?, work).await
}

/// As [`run_on_database`], on a target that [`TargetDatabase::find_or_allow_start`] has found.
pub async fn run_on_found<T>(
    config: &Config,
    found: Option<TargetDatabase>,
    work: impl AsyncFnOnce(&mut Client) -> Result<T>,
) -> Result<T> {
    if let Some(database) = found {
        return work(&mut database.connect().await?).await;
    }
    let cluster = embedded::start_cluster(config).await?;
    let outcome = async {
        // In a project that has never been started, the role `postgres` is only made now.
        embedded::apply_platform_to(config, &cluster).await?;
        let login = embedded::administrator_login(&cluster);
        work(&mut embedded::connect(&login).await?).await
    }
    .await;
    // The cluster is stopped before an error is returned, so that no PostgreSQL is left running.
    cluster.stop().await?;
    outcome
}

/// Runs `work` on accounts of the console, which `postgres` does not write. When the project does not run, its cluster is started for that and
/// stopped afterwards, without applying migrations.
pub async fn run_as_console<T>(config: &Config, work: impl AsyncFnOnce(&Client) -> Result<T>) -> Result<T> {
    if let Some(database) = TargetDatabase::find_or_allow_start(config).await? {
        let client = database.connect_as_console().await?;
        refuse_older(&client).await?;
        return work(&*client).await;
    }
    let cluster = embedded::start_cluster(config).await?;
    let outcome = async {
        // In a project that has never been started, roles and tables are only made now.
        embedded::apply_platform_to(config, &cluster).await?;
        work(&*connect_console_login(console_login_to(&cluster.access())).await?).await
    }
    .await;
    // The cluster is stopped before an error is returned, so that no PostgreSQL is left running.
    cluster.stop().await?;
    outcome
}

/// Runs `work` on the database as `postgres`. When the project does not run, its cluster is started with all migrations
/// applied, and stopped afterwards.
pub async fn run_on_migrated_database<T>(
    config: &Config,
    work: impl AsyncFnOnce(&mut Client) -> Result<T>,
) -> Result<T> {
    let found = TargetDatabase::find_or_allow_start(config).await?;
    // In production migrations are applied when somebody says so.
    if found.is_some() || is_home(config) {
        return run_on_found(config, found, work).await;
    }
    let embedded = Embedded::start(config).await?;
    let outcome = match embedded::connect(&embedded.administrator_login()).await {
        Ok(mut client) => work(&mut client).await,
        Err(error) => Err(error),
    };
    // The cluster is stopped before an error is returned, so that no PostgreSQL is left running.
    embedded.cluster.stop().await?;
    outcome
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    fn external(port: u16) -> TargetDatabase {
        let url = format!("postgresql://u:p@127.0.0.1:{port}/x?sslmode=disable");
        TargetDatabase::External(Box::new(ExternalDatabase::parse(&url.into()).unwrap()))
    }

    /// A server that refuses every login, as when it has no connection left.
    fn refuse_logins() -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut size = [0; 4];
                stream.read_exact(&mut size).unwrap();
                let mut startup = vec![0; u32::from_be_bytes(size) as usize - 4];
                stream.read_exact(&mut startup).unwrap();
                let fields = b"SFATAL\0C53300\0Mtoo many connections\0\0";
                let size = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
                stream.write_all(&[b"E", &size[..], fields].concat()).unwrap();
            }
        });
        port
    }

    #[actix_web::test]
    async fn gw_017_a_server_that_refuses_the_login_now_is_not_taken_for_one_of_an_older_version() {
        let refused = refuse_newer(&external(refuse_logins())).await;
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
        let unreachable = refuse_newer(&external(free.port())).await;

        let message = format!("{:#}", refused.unwrap_err());
        assert!(message.contains("too many connections"), "{message}");
        assert!(unreachable.is_ok(), "the command itself names it");
    }
}
