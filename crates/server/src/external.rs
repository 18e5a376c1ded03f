//! A database that somebody else runs: `DATABASE_URL`.

use anyhow::{Context, Result, bail};
use secrecy::{ExposeSecret, SecretString};
use selvedge_postgres::Logins;
use selvedge_postgres::migrate::{RolePasswords, set_role_passwords};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config};

use crate::config::Environment;

/// Where the database is and how to log in to it.
pub(crate) struct ExternalDatabase {
    config: Config,
}

impl ExternalDatabase {
    /// Reads `postgresql://user:password@host:port/database?sslmode=…`. Without an `sslmode`, TLS is
    /// required wherever the connection leaves the machine.
    pub(crate) fn parse(url: &SecretString) -> Result<Self> {
        // The parser's error does not quote the URL; neither may we, as it holds a password.
        let mut config: Config = url
            .expose_secret()
            .parse()
            .context("DATABASE_URL is not of the form postgresql://user:password@host:5432/database")?;
        if config.get_hosts().is_empty() {
            bail!("DATABASE_URL names no host");
        }
        if !url.expose_secret().contains("sslmode") && !config.get_hosts().iter().all(is_local) {
            config.ssl_mode(SslMode::Require);
        }
        Ok(Self { config })
    }

    /// How the services log in: each under its own role, with the password of the URL.
    ///
    /// One password for all of them is how Supabase's own compose file does it; a URL that logs in as
    /// `authenticator`, `postgres` or a superuser names the same database.
    pub(crate) fn logins(&self) -> Logins {
        let login = |role: &str| {
            let mut config = self.config.clone();
            config.user(role);
            config
        };
        Logins::new(
            login("authenticator"),
            login("supabase_auth_admin"),
            login("supabase_storage_admin"),
        )
    }

    /// A connection as the URL's own user.
    pub(crate) async fn client(&self) -> Result<Client> {
        selvedge_postgres::connect(&self.config)
            .await
            .context("cannot log in to the database of DATABASE_URL")
    }

    /// Gives the services' roles the password of the URL; for a database that never had a platform schema,
    /// where they cannot log in yet.
    pub(crate) async fn set_service_passwords(&self, superuser: &Client) -> Result<()> {
        let Some(password) = self.config.get_password() else {
            return Ok(());
        };
        let password = Some(SecretString::from(String::from_utf8_lossy(password).into_owned()));
        let passwords = RolePasswords {
            authenticator: password.clone(),
            supabase_auth_admin: password.clone(),
            supabase_storage_admin: password,
            ..RolePasswords::default()
        };
        Ok(set_role_passwords(superuser, &passwords).await?)
    }

    /// Migrations run as `postgres`, who is no superuser, whoever applied the platform schema.
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

/// The database of `selvedge rest`: a URL or libpq's `key=value` form, the rest from libpq's variables.
///
/// Without an `sslmode`, TLS is used wherever the connection leaves the machine and the server offers it; its
/// certificate is verified whenever TLS is used.
///
/// # Errors
/// When it cannot be read; the message does not quote it.
pub(crate) fn standalone_config(uri: Option<&SecretString>, environment: &Environment) -> Result<Config> {
    let uri = uri.map_or("", ExposeSecret::expose_secret).trim();
    let text = SSL_MODES
        .iter()
        .fold(uri.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours));
    let bare = matches!(text.as_str(), "" | "postgresql://" | "postgres://");
    let mut config: Config = if bare {
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

/// libpq's modes that the driver has no name for: certificates are always verified here.
const SSL_MODES: [(&str, &str); 3] = [
    ("sslmode=verify-full", "sslmode=require"),
    ("sslmode=verify-ca", "sslmode=require"),
    ("sslmode=allow", "sslmode=prefer"),
];

/// Where libpq looks for a server when nobody says where it is.
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
    fn tls_is_required_where_the_connection_leaves_the_machine() {
        assert_eq!(ssl_mode("postgresql://u:p@db.example.com/x"), SslMode::Require);
        assert_eq!(
            ssl_mode("postgresql://u:p@db.example.com/x?sslmode=disable"),
            SslMode::Disable
        );
        assert_eq!(ssl_mode("postgresql://u:p@127.0.0.1:5432/x"), SslMode::Prefer);
    }

    #[test]
    fn a_standalone_database_may_be_named_in_every_way_of_libpq() {
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
