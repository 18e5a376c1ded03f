//! A database that somebody else runs: `DATABASE_URL`.

use anyhow::{Context, Result, bail};
use secrecy::{ExposeSecret, SecretString};
use selvedge_postgres::Logins;
use selvedge_postgres::migrate::{RolePasswords, set_role_passwords};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config};

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
