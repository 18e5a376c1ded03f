//! Finds and runs PostgreSQL's client programs, such as pg_dump.
//!
//! pg_dump reads servers of its own version and older ones. A project's PostgreSQL may be older than the database that is read, for
//! example the source of an import, so each program that the machine has is tried until one is not too old.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};
use selvedge_config::{Config, Environment};
use selvedge_postgres::cluster::Binaries;
use tokio_postgres::Config as Login;
use tokio_postgres::config::{Host, SslMode};

use crate::EMBEDDED_PASSWORD;
use crate::embedded;

/// Where operating systems keep trusted root certificates, for versions of libpq that do not look for them.
const TRUST_STORES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// What pg_dump and pg_dumpall say of a server that is newer than they are (`connectDatabase` in pg_dump, without translations).
const TOO_OLD: &str = "server version mismatch";

/// A client program with its arguments.
pub struct ClientProgram {
    name: &'static str,
    /// Where the machine has it, in the order in which it is tried.
    paths: Vec<PathBuf>,
    arguments: Vec<OsString>,
}

impl ClientProgram {
    /// Finds the program in the folder of the cluster's programs, on PATH, and in the folders of other versions of PostgreSQL: the npm
    /// packages contain the server only.
    ///
    /// # Errors
    /// When it is in none of these places.
    pub fn find(config: &Config, name: &'static str) -> Result<Self> {
        let beside = embedded::cluster_config(config)?
            .find_binaries()
            .map(|binaries| binaries.folder().to_owned());
        let environment = Environment::of_process();
        let on_path = environment.get("PATH").map(std::env::split_paths);
        let folders = beside
            .into_iter()
            .chain(on_path.into_iter().flatten())
            .chain(Binaries::machine_folders());
        let paths = find_in_folders(folders, name);
        if paths.is_empty() {
            bail!(
                "{name} is not on this machine: install PostgreSQL's client programs (Debian: postgresql-client)"
            );
        }
        Ok(Self {
            name,
            paths,
            arguments: Vec::new(),
        })
    }

    /// Adds arguments.
    pub fn args<T: AsRef<OsStr>>(&mut self, arguments: impl IntoIterator<Item = T>) -> &mut Self {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        self.arguments.extend(arguments);
        self
    }

    /// Runs the program on the database of `login`, and returns its standard output.
    ///
    /// # Errors
    /// When it exits with an error; the message contains its standard error. When each of the machine's programs is older than the
    /// server, the message names them.
    pub fn run(self, login: &Login) -> Result<String> {
        let variables = login_variables(login);
        let mut too_old = Vec::new();
        for path in &self.paths {
            let output = self.run_one(path, &variables)?;
            if output.status.success() {
                let text = String::from_utf8(output.stdout);
                return text.with_context(|| format!("the output of {} is not text", self.name));
            }
            let error = String::from_utf8_lossy(&output.stderr);
            if !error.contains(TOO_OLD) {
                bail!("{}", error.trim_end());
            }
            let versions = error.lines().find_map(|line| line.split_once("server version: "));
            let versions = versions.map_or("too old", |(_, versions)| versions);
            too_old.push(format!("  {}: server {versions}", path.display()));
        }
        bail!("{} is older than the server:\n{}", self.name, too_old.join("\n"))
    }

    fn run_one(&self, path: &Path, variables: &[(&'static str, String)]) -> Result<Output> {
        let mut command = Command::new(path);
        // Those of the shell may name another server: PGSERVICE and PGHOSTADDR come before PGHOST.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"PG") {
                command.env_remove(name);
            }
        }
        // By environment variables, because every user of the machine can read arguments.
        let output = command
            .args(&self.arguments)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            // Errors in English are recognized. Values are in the encoding of the database whatever the locale is.
            .env("LC_ALL", "C")
            .env_remove("LANGUAGE")
            .output();
        output.with_context(|| format!("{} cannot be run", self.name))
    }
}

/// The program in each of these folders that has it, once each.
fn find_in_folders(folders: impl IntoIterator<Item = PathBuf>, name: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let path = folder.join(name);
        if path.is_file() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// The environment variables that lead libpq to the database of `login`.
fn login_variables(login: &Login) -> Vec<(&'static str, String)> {
    let host = match login.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => "127.0.0.1".to_owned(),
    };
    let password = login.get_password().map_or_else(
        || EMBEDDED_PASSWORD.to_owned(),
        |password| String::from_utf8_lossy(password).into_owned(),
    );
    let mut variables = vec![
        ("PGHOST", host),
        ("PGPORT", login.get_ports().first().unwrap_or(&5432).to_string()),
        ("PGUSER", login.get_user().unwrap_or("postgres").to_owned()),
        ("PGPASSWORD", password),
        ("PGDATABASE", login.get_dbname().unwrap_or("postgres").to_owned()),
        // Options of a login are, for example, the role as which its session begins.
        ("PGOPTIONS", login.get_options().unwrap_or_default().to_owned()),
    ];
    variables.extend(tls_variables(login, &Environment::of_process()));
    variables
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
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Writes a pg_dump of version `newest`, which reads a server of version 18 or says that it is too old for it.
    fn write_program(folder: &Path, newest: u32) {
        let script = format!(
            "#!/bin/sh\nif [ {newest} -lt 18 ]; then\n  echo 'pg_dump: error: aborting because of server version mismatch' >&2\n  \
             echo 'pg_dump: detail: server version: 18.4; pg_dump version: {newest}.1' >&2\n  exit 1\nfi\n\
             echo \"$PGHOST $PGPORT $PGUSER $* {newest}\"\n"
        );
        std::fs::create_dir_all(folder).unwrap();
        let path = folder.join("pg_dump");
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn program(folders: &[PathBuf]) -> ClientProgram {
        let mut program = ClientProgram {
            name: "pg_dump",
            paths: find_in_folders(folders.to_vec(), "pg_dump"),
            arguments: Vec::new(),
        };
        program.args(["--schema-only"]);
        program
    }

    #[test]
    fn a_program_that_is_older_than_the_server_is_passed_over_for_one_that_is_not() {
        let home = tempfile::tempdir().unwrap();
        let [old, older, new] = ["15", "14", "18"].map(|name| home.path().join(name));
        for (folder, newest) in [(&old, 15), (&older, 14), (&new, 18)] {
            write_program(folder, newest);
        }
        let missing = home.path().join("missing");
        let login: Login = "postgresql://u@127.0.0.1:5433/x".parse().unwrap();

        let printed = program(&[old.clone(), missing, older.clone(), new])
            .run(&login)
            .unwrap();
        assert_eq!(printed, "127.0.0.1 5433 u --schema-only 18\n");

        let refused = program(&[old.clone(), older, old])
            .run(&login)
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("pg_dump is older than the server:")
                && refused.matches("server 18.4; pg_dump version: 15.1").count() == 1
                && refused.contains("server 18.4; pg_dump version: 14.1"),
            "{refused}"
        );
    }

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
