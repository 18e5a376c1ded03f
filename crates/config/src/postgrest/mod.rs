//! PostgREST's settings by its own names, from variables (`PGRST_DB_SCHEMAS`) or from a configuration file of PostgREST.
//!
//! Settings about requests go into [`RestConfig`]; those about the process (addresses, pool, log) into [`ProcessSettings`].

mod dump;
mod file;

use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};
use selvedge_rest::{RestConfig, SettingError};

use crate::environment::Environment;
pub use dump::render_settings;
pub use file::read_settings_file;

const PREFIX: &str = "PGRST_";
const APP_SETTINGS: &str = "APP_SETTINGS_";

/// Settings whose value may be read from a file, named as `@/run/secrets/jwt`.
const FROM_FILE: [&str; 2] = ["jwt-secret", "db-uri"];

/// Settings that only `selvedge rest` uses. In a project, `config.toml` or another service decides about them.
const STANDALONE_ONLY: [&str; 11] = [
    "admin-server-host",
    "admin-server-port",
    "admin-server-unix-socket",
    "admin-server-unix-socket-mode",
    "log-level",
    "server-cors-allowed-origins",
    "server-host",
    "server-port",
    "server-reuseport",
    "server-unix-socket",
    "server-unix-socket-mode",
];

/// One setting as it was given.
#[derive(Clone)]
pub struct NamedSetting {
    /// The name in PostgREST's files: `db-schemas`.
    pub name: String,
    pub value: SecretString,
    /// The name in messages: `PGRST_DB_SCHEMAS`, `postgrest.conf:3: db-schemas`.
    pub shown: String,
}

impl NamedSetting {
    /// Whether the value must not be shown: keys, and addresses with a password. Settings of the project's own
    /// (`app.settings.…`) often hold the key of another service.
    pub fn is_secret(&self) -> bool {
        FROM_FILE.contains(&self.name.as_str()) || self.name.starts_with("app.settings")
    }

    /// The key under which it stands among the project's settings.
    pub(super) fn key(&self) -> String {
        format!("postgrest.{}", self.name)
    }

    /// The file that has the value, if it is in one.
    pub(super) fn file(&self) -> Option<&Path> {
        use secrecy::ExposeSecret as _;

        let path = self.value.expose_secret().strip_prefix('@')?;
        FROM_FILE.contains(&self.name.as_str()).then_some(Path::new(path))
    }
}

impl std::fmt::Debug for NamedSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Settings of the process, with PostgREST's defaults.
#[derive(Debug, Clone)]
pub struct ProcessSettings {
    /// The database, as a URL or in libpq's `key=value` form.
    pub db_uri: Option<SecretString>,
    /// `db-pool`: connections of all workers together. Default 10.
    pub pool_size: Option<usize>,
    /// How long a request waits for a connection. Default 10 s.
    pub pool_acquisition_timeout: Option<Duration>,
    /// How long an idle connection is kept. Default 30 s.
    pub pool_max_idle: Option<Duration>,
    /// `db-pool-max-lifetime`: the maximum age of a connection.
    pub pool_max_lifetime: Option<Duration>,
    /// Address to listen on: a name, an address, or `*`, `*4`, `!4`, `*6`, `!6`. Default `!4`: all of IPv4.
    pub server_host: String,
    /// Default 3000.
    pub server_port: u16,
    /// A unix socket to listen on instead of a port.
    pub unix_socket: Option<PathBuf>,
    /// Permissions of the socket. Default 660.
    pub unix_socket_mode: u32,
    /// Address of the admin server. Default: `server_host`.
    pub admin_host: Option<String>,
    /// Port of the admin server (health, metrics, catalog). Default: no admin server.
    pub admin_port: Option<u16>,
    /// A unix socket of the admin server, instead of a port.
    pub admin_socket: Option<PathBuf>,
    /// Permissions of that socket. Default 660.
    pub admin_socket_mode: u32,
    /// Whether several processes may listen on the port. Default false.
    pub reuse_port: bool,
    /// The log level. Default: `error`.
    pub log_level: LogLevel,
}

/// `log-level`: each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogLevel {
    Crit,
    #[default]
    Error,
    Warn,
    Info,
    Debug,
}

impl Default for ProcessSettings {
    fn default() -> Self {
        Self {
            db_uri: None,
            pool_size: None,
            pool_acquisition_timeout: None,
            pool_max_idle: None,
            pool_max_lifetime: None,
            server_host: "!4".to_owned(),
            server_port: 3000,
            unix_socket: None,
            unix_socket_mode: 0o660,
            admin_host: None,
            admin_port: None,
            admin_socket: None,
            admin_socket_mode: 0o660,
            reuse_port: false,
            log_level: LogLevel::default(),
        }
    }
}

impl LogLevel {
    /// The level as a `tracing` filter. A request that fails with a 5xx is logged as an error, a refused one as a warning.
    pub fn filter(self) -> &'static str {
        match self {
            Self::Crit => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info,actix_server=warn,tokio_postgres=warn",
            Self::Debug => "debug,actix_server=info",
        }
    }
}

/// Errors and warnings found while settings were read; one line each.
#[derive(Debug, Default)]
pub struct SettingFindings {
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
}

/// The variables `PGRST_*` as settings, ordered by name.
pub fn from_environment(environment: &Environment) -> Vec<NamedSetting> {
    let mut settings: Vec<NamedSetting> = environment
        .with_prefix(PREFIX)
        .map(|(variable, value)| {
            let name = &variable[PREFIX.len()..];
            NamedSetting {
                name: match name.strip_prefix(APP_SETTINGS) {
                    Some(setting) => format!("app.settings.{setting}"),
                    None => name.to_ascii_lowercase().replace('_', "-"),
                },
                value: value.into(),
                shown: variable.to_owned(),
            }
        })
        .collect();
    settings.sort_by(|a, b| a.shown.cmp(&b.shown));
    settings
}

/// Applies settings in order; later ones win.
pub fn apply_setting(
    settings: &[NamedSetting],
    rest: &mut RestConfig,
    process: &mut ProcessSettings,
) -> SettingFindings {
    let mut findings = SettingFindings::default();
    for setting in settings {
        let made = read_value(setting).and_then(|value| match process.set(&setting.name, &value) {
            Err(SettingError::Unknown) => rest.set(&setting.name, &value),
            made => made,
        });
        match made {
            Ok(()) => {}
            Err(error @ SettingError::Unknown) => {
                findings
                    .warnings
                    .push(format!("{} {error}: it has no effect", setting.shown));
            }
            Err(error) => findings.errors.push(format!("{} {error}", setting.shown)),
        }
    }
    findings
}

/// Warns about settings that have no effect in a project.
pub(crate) fn warn_of_standalone_only(settings: &[NamedSetting]) -> Vec<String> {
    settings
        .iter()
        .filter(|setting| STANDALONE_ONLY.contains(&setting.name.as_str()))
        .map(|setting| format!("{} has an effect in `selvedge rest` only", setting.shown))
        .collect()
}

/// The value, or the content of the file that `@path` names.
fn read_value(setting: &NamedSetting) -> Result<String, SettingError> {
    use secrecy::ExposeSecret as _;

    let Some(path) = setting.file() else {
        return Ok(setting.value.expose_secret().to_owned());
    };
    let text = read_text(path, MAX_SETTINGS_BYTES)
        .map_err(|error| SettingError::Invalid(format!("names the file {}: {error}", path.display())))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

impl ProcessSettings {
    fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let value = value.trim();
        match name {
            "db-uri" => self.db_uri = Some(value.into()),
            "db-pool" => self.pool_size = Some(parse_number(value, 1..=10_000)?),
            "db-pool-acquisition-timeout" => self.pool_acquisition_timeout = Some(parse_seconds(value)?),
            "db-pool-max-idletime" | "db-pool-timeout" => self.pool_max_idle = Some(parse_seconds(value)?),
            "db-pool-max-lifetime" => self.pool_max_lifetime = Some(parse_seconds(value)?),
            "server-host" => value.clone_into(&mut self.server_host),
            "server-port" => self.server_port = parse_number(value, 0..=65_535)?,
            "server-unix-socket" => self.unix_socket = parse_path(value),
            "server-unix-socket-mode" => self.unix_socket_mode = socket_mode(value)?,
            "server-reuseport" => {
                self.reuse_port = value.parse().map_err(|_| invalid_value("true or false"))?
            }
            "admin-server-unix-socket" => self.admin_socket = parse_path(value),
            "admin-server-unix-socket-mode" => self.admin_socket_mode = socket_mode(value)?,
            "admin-server-host" => self.admin_host = Some(value.to_owned()),
            "admin-server-port" => self.admin_port = Some(parse_number(value, 0..=65_535)?),
            "log-level" => {
                self.log_level = match value {
                    "crit" => LogLevel::Crit,
                    "error" => LogLevel::Error,
                    "warn" => LogLevel::Warn,
                    "info" => LogLevel::Info,
                    "debug" => LogLevel::Debug,
                    _ => return Err(invalid_value("crit, error, warn, info or debug")),
                }
            }
            // Accepted without effect: connections always recover, and cached tokens expire by themselves.
            "db-pool-automatic-recovery" | "jwt-cache-max-lifetime" => {}
            _ => return Err(SettingError::Unknown),
        }
        Ok(())
    }
}

fn parse_path(value: &str) -> Option<PathBuf> {
    Some(value).filter(|path| !path.is_empty()).map(Into::into)
}

fn socket_mode(value: &str) -> Result<u32, SettingError> {
    u32::from_str_radix(value, 8)
        .ok()
        .filter(|mode| (0o600..=0o777).contains(mode))
        .ok_or_else(|| invalid_value("an octal number from 600 to 777"))
}

fn invalid_value(expected: &str) -> SettingError {
    SettingError::Invalid(format!("must be {expected}"))
}

fn parse_number<T: std::str::FromStr + PartialOrd + std::fmt::Display>(
    value: &str,
    range: std::ops::RangeInclusive<T>,
) -> Result<T, SettingError> {
    value
        .parse()
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(|| invalid_value(&format!("a number from {} to {}", range.start(), range.end())))
}

fn parse_seconds(value: &str) -> Result<Duration, SettingError> {
    parse_number(value, 1..=1_000_000).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied<const N: usize>(
        variables: [(&str, &str); N],
    ) -> (RestConfig, ProcessSettings, SettingFindings) {
        let environment: Environment = variables.into_iter().collect();
        let (mut rest, mut process) = (RestConfig::standalone(), ProcessSettings::default());
        let findings = apply_setting(&from_environment(&environment), &mut rest, &mut process);
        (rest, process, findings)
    }

    #[test]
    fn rest_095_pgrst_variables_set_rest_and_process_settings() {
        let (rest, process, findings) = applied([
            ("PGRST_DB_SCHEMAS", "api, private"),
            ("PGRST_DB_MAX_ROWS", "7"),
            ("PGRST_APP_SETTINGS_Some_Key", "v"),
            ("PGRST_DB_POOL", "12"),
            ("PGRST_SERVER_PORT", "3100"),
            ("PGRST_LOG_LEVEL", "info"),
            ("PGRST_SERVER_UNIX_SOCKET_MODE", "640"),
            ("OTHER_DB_SCHEMAS", "no"),
        ]);

        assert_eq!(rest.schemas, ["api", "private"]);
        assert_eq!(rest.max_rows, Some(7));
        assert_eq!(
            rest.app_settings,
            [("app.settings.Some_Key".to_owned(), "v".to_owned())]
        );
        assert_eq!((process.pool_size, process.server_port), (Some(12), 3100));
        assert_eq!(process.unix_socket_mode, 0o640);
        assert_eq!(process.log_level, LogLevel::Info);
        assert!(
            findings.errors.is_empty() && findings.warnings.is_empty(),
            "{findings:?}"
        );
    }

    #[test]
    fn rest_095_wrong_values_are_errors_and_unknown_names_warnings() {
        let (.., findings) = applied([
            ("PGRST_DB_TX_END", "hunter2"),
            ("PGRST_DB_POOL", "0"),
            ("PGRST_JWT_SECRET", "@/no/such/file"),
            ("PGRST_DB_SCHEMAZ", "hunter2"),
        ]);

        let text = format!("{findings:?}");
        assert_eq!((findings.errors.len(), findings.warnings.len()), (3, 1));
        assert!(!text.contains("hunter2"), "{text}");
        for name in [
            "PGRST_DB_TX_END",
            "PGRST_DB_POOL",
            "PGRST_JWT_SECRET",
            "PGRST_DB_SCHEMAZ",
        ] {
            assert!(text.contains(name), "{text}");
        }
    }

    #[test]
    fn rest_007_jwt_secret_is_read_from_a_file() {
        use secrecy::ExposeSecret;

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, "a-secret-of-at-least-32-characters\n").unwrap();

        let (rest, ..) = applied([("PGRST_JWT_SECRET", &format!("@{}", file.display()))]);

        assert_eq!(
            rest.jwt_secret.unwrap().expose_secret(),
            "a-secret-of-at-least-32-characters"
        );
    }
}
