//! A database that this program does not run itself: that of `DATABASE_URL`, or that of `selvedge rest`.

use anyhow::{Context, Result, bail};
use secrecy::{ExposeSecret, SecretString};
use selvedge_postgres::migrate::{RolePasswords, set_role_passwords};
use selvedge_postgres::{Login, Logins};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::{Client, Config};

use super::service_logins;
use crate::config::{Environment, describe_database, describe_hosts};

/// The database of `DATABASE_URL`.
pub(crate) struct ExternalDatabase {
    config: Config,
    url: SecretString,
}

impl ExternalDatabase {
    /// Parses `postgresql://user:password@host:port/database?sslmode=…`. Without an `sslmode`, TLS is required unless the host
    /// is this machine.
    ///
    /// # Errors
    /// A URL of another form, or without a host. The message does not quote it, as it holds a password.
    pub(crate) fn parse(url: &SecretString) -> Result<Self> {
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
    pub(crate) fn parse_named(name: &str, url: &SecretString) -> Result<Self> {
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
        })
    }

    /// Returns the services' logins: each with its own role, and all with the password of the URL, as in Supabase's compose
    /// file. The URL may contain any user of the database. With `schema_changes` the console's admins are `postgres`, who
    /// owns the project's objects.
    pub(crate) fn logins(&self, schema_changes: bool) -> Logins {
        let login = |role: &str| {
            let mut config = self.config.clone();
            config.user(role);
            config
        };
        let logins = service_logins(login);
        if schema_changes {
            logins.with_login(Login::ConsoleAdmin, login("postgres"))
        } else {
            logins
        }
    }

    /// Hosts and ports, for logs: `db.example.com:5432`.
    pub(crate) fn address(&self) -> String {
        describe_hosts(&self.config)
    }

    /// Hosts, ports and database: `db.example.com:5432/postgres`.
    pub(crate) fn describe(&self) -> String {
        describe_database(&self.config)
    }

    /// The names of the hosts, as a person types them to agree to the destruction of what is there: `db1,db2`.
    pub(crate) fn host_names(&self) -> String {
        let names = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(folder) => folder.display().to_string(),
        });
        names.collect::<Vec<_>>().join(",")
    }

    /// Whether the server is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.config.get_hosts().iter().all(is_local)
    }

    /// User and password of the database URL.
    pub(crate) fn login(&self) -> &Config {
        &self.config
    }

    /// The URL, with its password, for other programs.
    pub(crate) fn url(&self) -> &str {
        self.url.expose_secret()
    }

    /// Connects as the URL's own user.
    pub(crate) async fn connect(&self) -> Result<Client> {
        selvedge_postgres::connect(&self.config)
            .await
            .with_context(|| format!("cannot log in to the database at {}", self.address()))
    }

    /// Gives the services' roles the password of the URL. Needed once, when the platform schema has just created the roles
    /// without one. `postgres`, as whom most jobs of pg_cron log in, gets it only if it has none: where it was there before,
    /// people log in with its own password.
    pub(crate) async fn set_service_passwords(&self, superuser: &Client) -> Result<()> {
        let Some(password) = self.config.get_password() else {
            return Ok(());
        };
        let password = Some(SecretString::from(String::from_utf8_lossy(password).into_owned()));
        let has_password = "select rolpassword is not null from pg_authid where rolname = 'postgres'";
        let has_password: bool = superuser.query_one(has_password, &[]).await?.get(0);
        let passwords = RolePasswords {
            postgres: password.clone().filter(|_| !has_password),
            authenticator: password.clone(),
            supabase_auth_admin: password.clone(),
            supabase_storage_admin: password.clone(),
            supabase_replication_admin: password.clone(),
            console: password,
            ..RolePasswords::default()
        };
        Ok(set_role_passwords(superuser, &passwords).await?)
    }

    /// Switches the session to `postgres`, under which migrations run. That role is not a superuser, so a migration
    /// has the same rights as on Supabase, whichever user the URL names.
    pub(crate) async fn become_administrator(&self, client: &Client) -> Result<()> {
        if self.config.get_user() != Some("postgres") {
            client
                .batch_execute("set session authorization postgres")
                .await
                .context("the user of DATABASE_URL cannot become postgres, as whom migrations run")?;
        }
        Ok(())
    }
}

/// The database of `selvedge rest`: a URL or libpq's `key=value` form. What it leaves out comes from libpq's variables
/// (`PGHOST`, `PGPORT`, `PGUSER`, `PGPASSWORD`, `PGDATABASE`).
///
/// Without an `sslmode`, TLS is used if the host is another machine and the server offers it. Whenever TLS is used, the
/// certificate is verified.
///
/// # Errors
/// A text of another form; the message does not quote it, as it may hold a password.
pub(crate) fn standalone_config(uri: Option<&SecretString>, environment: &Environment) -> Result<Config> {
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
