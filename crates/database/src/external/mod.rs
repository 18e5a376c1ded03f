//! A database that this program does not run itself: that of `DATABASE_URL`, or that of `selvedge rest`.

mod apply_platform;
pub mod passwords;
pub mod standby_passwords;

use std::path::Path;

use anyhow::{Context, Result, bail};
use secrecy::{ExposeSecret, SecretString};
use selvedge_config::{Config as ProjectConfig, Environment, describe_database, describe_hosts};
use selvedge_postgres::cluster::SUPERUSER;
use selvedge_postgres::cluster::{DATABASE, REPLICATION_LOGIN, find_other_project, is_of_project};
use selvedge_postgres::{Login, Logins, PrivilegedLogin, PrivilegedSession, RunLogin, become_postgres};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config};

use crate::embedded;
use crate::service_logins;

pub use apply_platform::apply_platform_to_external;

/// Whether `postgres` is a superuser, and whether it is the user who logged in: poolers have users of other names for it.
const ABOUT_POSTGRES: &str = "
    select exists (
      select from pg_catalog.pg_roles as r where r.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name and r.rolsuper
    ), session_user operator(pg_catalog.=) 'postgres'::pg_catalog.name";

const CLUSTER_NAME: &str = "select pg_catalog.current_setting('cluster_name')";

/// The database of `DATABASE_URL`.
pub struct ExternalDatabase {
    config: Config,
    url: SecretString,
    /// Password of `postgres`, where the URL has that of another role.
    postgres_password: Option<SecretString>,
    /// Password of the console's logins.
    console_password: Option<SecretString>,
    /// The id of the project to which a server of this machine belongs, if it is another one than the command's.
    other_project: Option<String>,
}

impl ExternalDatabase {
    /// The database of `DATABASE_URL` with the further passwords of the configuration; `None` without that variable.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn of_project(config: &ProjectConfig) -> Result<Option<Self>> {
        let section = &config.selvedge;
        let Some(url) = &section.database_url else {
            return Ok(None);
        };
        let mut database = Self::parse(url)?;
        database.postgres_password.clone_from(&section.postgres_password);
        database.console_password.clone_from(&section.console_password);
        Ok(Some(database))
    }

    /// Parses `postgresql://user:password@host:port/database?sslmode=…`. Without an `sslmode`, TLS is required unless the host
    /// is this machine.
    ///
    /// # Errors
    /// A URL of another form, or without a host. The message does not quote it, as it holds a password.
    pub fn parse(url: &SecretString) -> Result<Self> {
        let mut database = Self::parse_named("DATABASE_URL", url)?;
        // Of several hosts one is the primary, and a failover makes it another one.
        let names_attributes = url.expose_secret().contains("target_session_attrs");
        if database.config.get_hosts().len() > 1 && !names_attributes {
            database
                .config
                .target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        Ok(database)
    }

    /// Parses a URL, which messages call `name`.
    pub fn parse_named(name: &str, url: &SecretString) -> Result<Self> {
        let mut config: Config = url.expose_secret().parse().with_context(|| {
            format!("{name} is not of the form postgresql://user:password@host:5432/database")
        })?;
        if config.get_hosts().is_empty() {
            bail!("{name} names no host");
        }
        // libpq's default (`prefer`) would fall back to plain text when an attacker suppresses TLS.
        if !url.expose_secret().contains("sslmode") && !config.get_hosts().iter().all(is_local) {
            config.ssl_mode(SslMode::Require);
        }
        Ok(Self {
            config,
            url: url.clone(),
            postgres_password: None,
            console_password: None,
            other_project: None,
        })
    }

    /// Returns the services' logins: each with its own role, and with the password of the URL unless the configuration has another
    /// for it. The URL may contain any user of the database. With `schema_changes` the console's admins are `postgres`, who owns
    /// the project's objects.
    pub fn logins(&self, schema_changes: bool) -> Logins {
        let logins = service_logins(|role| self.service_login(role))
            .with_login(Login::Postgres, self.postgres_login());
        if schema_changes {
            logins.with_login(Login::ConsoleAdmin, self.postgres_login())
        } else {
            logins
        }
    }

    /// The login of a service's role: with the password of the URL, but for those of the console, if the configuration has theirs.
    pub fn service_login(&self, role: &str) -> Config {
        let mut config = self.config.clone();
        config.user(role);
        if let Some(password) = self.console_password.as_ref().filter(|_| is_of_console(role)) {
            config.password(password.expose_secret());
        }
        config
    }

    /// The login of `postgres`: with its own password if the configuration has it, else with that of the URL.
    pub fn postgres_login(&self) -> Config {
        let mut config = self.config.clone();
        config.user("postgres");
        if let Some(password) = &self.postgres_password {
            config.password(password.expose_secret());
        }
        config
    }

    /// Why Realtime gets no row changes: its login does not accept the password of the URL. `None` if it does, and where something else
    /// is wrong, which the service itself reports. `own` is the state folder of the project that is served.
    pub async fn explain_refused_replication(&self, own: &Path) -> Option<String> {
        let mut login = self.config.clone();
        login.user(REPLICATION_LOGIN);
        let error = selvedge_postgres::connect(&login).await.err()?;
        if error.code() != Some(&SqlState::INVALID_PASSWORD) {
            return None;
        }
        let refusal = format!(
            "Realtime sends no changes of rows: its login {REPLICATION_LOGIN} does not accept the password of DATABASE_URL"
        );
        let name = match self.connect().await {
            Ok(session) => session.query_one(CLUSTER_NAME, &[]).await.ok(),
            Err(_) => None,
        };
        let name: String = name.and_then(|row| row.try_get(0).ok()).unwrap_or_default();
        Some(if is_of_project(&name) {
            let whose = find_other_project(&name, own)
                .map_or_else(|| "this project".to_owned(), |id| format!("the project {id}"));
            format!(
                "{refusal}, because the server at {} is that of `selvedge start` of {whose}, which gives that login a secret of its own. \
                 Use what `selvedge start` serves, or another server: docs/operations.md, \"A database on another server\"",
                self.address()
            )
        } else {
            format!(
                "{refusal}. Set one password for all services: SELVEDGE_SERVICE_PASSWORD=… selvedge migrate up, with a superuser in \
                 DATABASE_URL"
            )
        })
    }

    /// Hosts and ports, for logs: `db.example.com:5432`.
    pub fn address(&self) -> String {
        describe_hosts(&self.config)
    }

    /// Hosts, ports and database: `db.example.com:5432/postgres`.
    pub fn describe(&self) -> String {
        let place = describe_database(&self.config);
        match &self.other_project {
            Some(id) => format!("{place}, of the project {id}, which is another one"),
            None => place,
        }
    }

    /// The names of the hosts, as a person types them to agree to the destruction of what is there: `db1,db2`.
    pub fn host_names(&self) -> String {
        let names = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(folder) => folder.display().to_string(),
        });
        names.collect::<Vec<_>>().join(",")
    }

    /// Asks a server of this machine whether it belongs to another project than that of the state folder `own`: an address says only who
    /// listens there now.
    ///
    /// # Errors
    /// When the login fails.
    pub(crate) async fn find_other_project(&mut self, own: &Path) -> Result<Option<&str>> {
        // Databases of other names on a server of this program are not its project's.
        if self.is_local() && self.config.get_dbname() == Some(DATABASE) {
            let session = self.connect().await?;
            let name: String = session.query_one(CLUSTER_NAME, &[]).await?.get(0);
            self.other_project = find_other_project(&name, own);
        }
        Ok(self.other_project.as_deref())
    }

    /// What a person types to agree to the destruction of what is there: the id of the other project whose server it is, or the names of the
    /// hosts.
    pub fn name_to_type(&self) -> String {
        self.other_project.clone().unwrap_or_else(|| self.host_names())
    }

    /// Whether `--yes` without a name is enough to destroy what is there.
    pub fn needs_no_name(&self) -> bool {
        self.is_local() && self.other_project.is_none()
    }

    /// Whether the server is on this machine.
    pub fn is_local(&self) -> bool {
        self.config.get_hosts().iter().all(is_local)
    }

    /// Whether it is the database of this name at this port of this machine, for a login that is not the superuser of this
    /// program's clusters: who names that one means the server and not the project.
    pub(crate) fn is_at_local_port(&self, port: u16, name: &str) -> bool {
        let is_tcp = matches!(self.config.get_hosts(), [host @ Host::Tcp(_)] if is_local(host));
        let is_superuser = self.config.get_user() == Some(SUPERUSER);
        is_tcp && !is_superuser && self.config.get_ports() == [port] && self.config.get_dbname() == Some(name)
    }

    /// User and password of the database URL.
    pub fn login(&self) -> &Config {
        &self.config
    }

    /// The URL, with its password, for other programs.
    pub fn url(&self) -> &str {
        self.url.expose_secret()
    }

    /// The login of the URL's own user, who may be a superuser.
    pub fn privileged_login(&self) -> PrivilegedLogin {
        PrivilegedLogin::new(self.config.clone())
    }

    /// Connects as the URL's own user, who may be a superuser: for what reads catalogs and the platform's tables only.
    pub async fn connect(&self) -> Result<PrivilegedSession> {
        self.privileged_login()
            .connect_through_pooler()
            .await
            .with_context(|| format!("cannot log in to the database at {}", self.address()))
    }

    /// Opens a session for statements of the project, with the rights of `postgres` and no more: logged in as that role if its
    /// password is known, as a role made for this session if the URL's user is a superuser, and else as that user, who has to be a
    /// member of `postgres`.
    ///
    /// # Errors
    /// When the login fails, or `postgres` is a superuser.
    pub async fn connect_as_postgres(&self) -> Result<Client> {
        let (login, run) = self.find_postgres_login().await?;
        let client = match run {
            Some(run) => run.open_session().await,
            None => selvedge_postgres::connect(&login).await,
        };
        client.with_context(|| format!("cannot log in as postgres to the database at {}", self.address()))
    }

    /// The login for statements of the project, for other programs. The returned role, if there is one, has to be dropped afterwards.
    ///
    /// # Errors
    /// As [`Self::connect_as_postgres`].
    pub(crate) async fn find_postgres_login(&self) -> Result<(Config, Option<RunLogin>)> {
        let session = self.connect().await?;
        let about = session.query_one(ABOUT_POSTGRES, &[]).await?;
        let (is_superuser, is_user): (bool, bool) = (about.get(0), about.get(1));
        self.refuse_superuser(is_superuser)?;
        let pinned = |mut login: Config| {
            // Poolers in transaction mode refuse startup options.
            if session.takes_options() {
                embedded::pin_settings(&mut login);
            }
            login
        };
        if self.postgres_password.is_some() {
            return Ok((pinned(self.postgres_login()), None));
        }
        let mut login = pinned(self.config.clone());
        if is_user {
            return Ok((login, None));
        }
        if session.is_superuser() {
            let run = RunLogin::create(session, &login)
                .await
                .context("no login with the rights of postgres can be made for this run")?;
            return Ok((run.config().clone(), Some(run)));
        }
        become_postgres(&mut login);
        Ok((login, None))
    }

    /// Refuses a database in which `postgres` is a superuser, before anything is changed in it.
    ///
    /// # Errors
    /// When it is one, or the connection is lost.
    pub async fn check_postgres(&self, session: &Client) -> Result<()> {
        self.refuse_superuser(session.query_one(ABOUT_POSTGRES, &[]).await?.get(0))
    }

    fn refuse_superuser(&self, is_superuser: bool) -> Result<()> {
        if is_superuser {
            bail!(
                "postgres is a superuser of the database at {}, and statements of a project must not have such rights: log in as \
                 postgres, run `create role supabase_admin superuser login password '…'`, log in as supabase_admin, run `alter role \
                 postgres rename to former_postgres`, and use supabase_admin here, which makes another postgres \
                 (docs/operations.md, \"Logins of the database\")",
                self.address()
            );
        }
        Ok(())
    }
}

fn is_of_console(role: &str) -> bool {
    role.starts_with("selvedge_console_")
}

/// The database of `selvedge rest`: a URL or libpq's `key=value` form. What it leaves out comes from libpq's variables
/// (`PGHOST`, `PGPORT`, `PGUSER`, `PGPASSWORD`, `PGDATABASE`).
///
/// Without an `sslmode`, TLS is used if the host is another machine and the server offers it. Whenever TLS is used, the
/// certificate is verified.
///
/// # Errors
/// A text of another form; the message does not quote it, as it may hold a password.
pub fn standalone_config(uri: Option<&SecretString>, environment: &Environment) -> Result<Config> {
    let uri = uri.map_or("", ExposeSecret::expose_secret).trim();
    let text = SSL_MODES.iter().fold(uri.to_owned(), |text, (libpq, driver)| {
        text.replace(libpq, driver)
    });
    let is_empty = matches!(text.as_str(), "" | "postgresql://" | "postgres://");
    let mut config: Config = if is_empty {
        Config::new()
    } else {
        text.parse()
            .context("db-uri is not of the form postgresql://user:password@host:5432/database")?
    };
    let variable = |name| environment.get(name).filter(|value| !value.is_empty());
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        match variable("PGHOST") {
            Some(host) => config.host(host),
            None => config.host(DEFAULT_SOCKET_FOLDER),
        };
    }
    if let Some(port) = variable("PGPORT").filter(|_| config.get_ports().is_empty()) {
        config.port(port.parse().context("PGPORT is not a port")?);
    }
    if let Some(user) = variable("PGUSER").filter(|_| config.get_user().is_none()) {
        config.user(user);
    }
    if let Some(password) = variable("PGPASSWORD").filter(|_| config.get_password().is_none()) {
        config.password(password);
    }
    if let Some(database) = variable("PGDATABASE").filter(|_| config.get_dbname().is_none()) {
        config.dbname(database);
    }
    if !text.contains("sslmode") && config.get_hosts().iter().all(is_local) {
        config.ssl_mode(SslMode::Disable);
    }
    Ok(config)
}

/// Modes of libpq that tokio-postgres does not know, with their nearest one. Certificates are always verified here, so
/// `require` is as strict as `verify-full`.
const SSL_MODES: [(&str, &str); 3] = [
    ("sslmode=verify-full", "sslmode=require"),
    ("sslmode=verify-ca", "sslmode=require"),
    ("sslmode=allow", "sslmode=prefer"),
];

/// Where libpq looks for a server when no host is given.
const DEFAULT_SOCKET_FOLDER: &str = "/var/run/postgresql";

fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ssl_mode(url: &str) -> SslMode {
        ExternalDatabase::parse(&url.into())
            .unwrap()
            .config
            .get_ssl_mode()
    }

    #[test]
    fn database_url_requires_tls_unless_the_host_is_this_machine() {
        assert_eq!(ssl_mode("postgresql://u:p@db.example.com/x"), SslMode::Require);
        assert_eq!(
            ssl_mode("postgresql://u:p@db.example.com/x?sslmode=disable"),
            SslMode::Disable
        );
        assert_eq!(ssl_mode("postgresql://u:p@127.0.0.1:5432/x"), SslMode::Prefer);
    }

    #[test]
    fn gw_029_only_a_port_of_this_machine_is_that_of_a_cluster_of_this_machine() {
        let is_own = |url: &str| {
            ExternalDatabase::parse(&url.into())
                .unwrap()
                .is_at_local_port(54322, "postgres")
        };

        assert!(is_own("postgresql://postgres:postgres@127.0.0.1:54322/postgres"));
        assert!(is_own(
            "postgresql://u:p@localhost:54322/postgres?sslmode=disable"
        ));
        for other in [
            "postgresql://supabase_admin:p@127.0.0.1:54322/postgres",
            "postgresql://u:p@127.0.0.1:54322/app",
            "postgresql://u:p@127.0.0.1:5432/postgres",
            "postgresql://u:p@db.example.com:54322/postgres",
            "postgresql://u:p@127.0.0.1:54322,127.0.0.1:54323/postgres",
        ] {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn of_several_hosts_the_one_that_accepts_writes_is_wanted_unless_the_url_says_otherwise() {
        let wanted = |url: &str| {
            let database = ExternalDatabase::parse(&url.into()).unwrap();
            (database.config.get_target_session_attrs(), database.address())
        };

        let both = wanted("postgresql://u:p@db1:5432,db2:6432/x");
        assert_eq!(
            both,
            (TargetSessionAttrs::ReadWrite, "db1:5432,db2:6432".to_owned())
        );
        let any = wanted("postgresql://u:p@db1,db2/x?target_session_attrs=any");
        assert_eq!(any.0, TargetSessionAttrs::Any);
        assert_eq!(wanted("postgresql://u:p@db1/x").0, TargetSessionAttrs::Any);
    }

    #[test]
    fn rest_095_db_uri_accepts_urls_key_value_pairs_and_libpq_variables() {
        let environment: Environment = [
            ("PGHOST", "db.example.com"),
            ("PGUSER", "web"),
            ("PGPASSWORD", "x"),
        ]
        .into_iter()
        .collect();
        let config = |uri: Option<&str>| {
            standalone_config(uri.map(SecretString::from).as_ref(), &environment).unwrap()
        };

        let from_variables = config(None);
        assert_eq!(from_variables.get_user(), Some("web"));
        assert_eq!(
            from_variables.get_hosts(),
            [Host::Tcp("db.example.com".to_owned())]
        );
        assert_eq!(
            config(Some("postgresql://")).get_hosts(),
            from_variables.get_hosts()
        );
        let pairs = config(Some("host=localhost user=other dbname=app"));
        assert_eq!(
            (pairs.get_user(), pairs.get_dbname()),
            (Some("other"), Some("app"))
        );
        assert_eq!(pairs.get_ssl_mode(), SslMode::Disable);
        let verified = config(Some("postgres://u@h/x?sslmode=verify-full"));
        assert_eq!(verified.get_ssl_mode(), SslMode::Require);
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        let message = format!(
            "{:#}",
            ExternalDatabase::parse(&"postgresql://u:hunter2@db:port/x".into())
                .err()
                .unwrap()
        );

        assert!(
            message.contains("DATABASE_URL") && !message.contains("hunter2"),
            "{message}"
        );
    }
}
