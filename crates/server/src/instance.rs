//! A running instance of `selvedge start`, or of `selvedge serve` with its own database: its ports, URLs and keys. Source: gateway
//! contract §6.

use secrecy::{ExposeSecret, SecretString};
use selvedge_config::Config;
use selvedge_postgres::cluster::{Cluster, ClusterError, LockHolder, LockPurpose, ProjectLock};
use selvedge_terminal::Values;
use selvedge_token::development;

use crate::database::EMBEDDED_PASSWORD;
use crate::database::home::is_home;
use crate::keys::KeySet;

/// The process that serves the project: that of `start`, which is PostgreSQL's parent as well, or that of `serve` in the home of a
/// production database. Its database is reached by [`RunningCluster`](selvedge_postgres::cluster::RunningCluster).
///
/// # Errors
/// When the lock file cannot be opened.
pub(crate) fn find_server(config: &Config) -> Result<Option<LockHolder>, ClusterError> {
    let home = &config.selvedge.data_dir;
    match is_home(config) {
        true => ProjectLock::find_server(home),
        false => Cluster::find_running(home),
    }
}

/// The ports of a running instance, read from its lock file, because flags may have chosen others than `config.toml`
/// names.
pub(crate) struct Ports {
    api: u16,
    database: u16,
    inbox: Option<u16>,
    console: Option<u16>,
}

impl Ports {
    /// The ports that `start` writes to the lock file: the API's, the inbox's and the console's, 0 for what is not served.
    /// [`Ports::from_lock`] relies on this order.
    pub(crate) fn to_lock(config: &Config) -> Vec<u16> {
        // A command that only starts PostgreSQL has opened none of them, and another project may have.
        if !config.flags.purpose.is_server {
            return Vec::new();
        }
        let port_if = |is_served: bool, port| if is_served { port } else { 0 };
        vec![
            config.api.port,
            port_if(config.inbox.enabled, config.inbox.port),
            port_if(config.console.enabled_in_start, config.console.port),
        ]
    }

    /// `None` while the instance has not written its ports yet, and for a command that serves nothing.
    pub(crate) fn from_lock(holder: &LockHolder) -> Option<Self> {
        let has_database_port =
            holder.shown_database_port() != 0 || holder.purpose.command == LockPurpose::SERVE;
        if !holder.is_server() || !has_database_port {
            return None;
        }
        let mut ports = holder.service_ports.iter().copied();
        Some(Self {
            api: ports.next()?,
            database: holder.shown_database_port(),
            inbox: ports.next().filter(|port| *port != 0),
            console: ports.next().filter(|port| *port != 0),
        })
    }

    /// Sets the ports in `config` to those of the running instance.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.api.port = self.api;
        if self.database != 0 {
            config.db.port = self.database;
        }
        config.inbox.enabled = self.inbox.is_some();
        config.inbox.port = self.inbox.unwrap_or(config.inbox.port);
        config.console.enabled_in_start = self.console.is_some();
        config.console.port = self.console.unwrap_or(config.console.port);
    }
}

/// The names among [`urls_and_keys`] whose values give all rights.
pub(crate) const SECRETS: [&str; 4] = [
    "SECRET_KEY",
    "JWT_SECRET",
    "SERVICE_ROLE_KEY",
    "S3_PROTOCOL_ACCESS_KEY_SECRET",
];

/// URLs and keys of a running instance, by the names that the Supabase CLI prints, in its order.
pub(crate) fn urls_and_keys(config: &Config, keys: &KeySet) -> Values {
    let api = config.api_url();
    let inbox = config.inbox.enabled.then(|| inbox_url(config.inbox.port));
    let console = &config.console;
    let console = console.enabled_in_start.then(|| console_url(console.port));
    let optional = |key: &Option<SecretString>| key.as_ref().map(|key| key.expose_secret().to_owned());
    // In production there is neither a port of PostgreSQL nor a well-known key.
    let in_development = |value: String| (!is_home(config)).then_some(value);
    let named = [
        ("API_URL", Some(api.clone())),
        ("REST_URL", Some(format!("{api}/rest/v1"))),
        ("GRAPHQL_URL", Some(format!("{api}/graphql/v1"))),
        ("FUNCTIONS_URL", Some(format!("{api}/functions/v1"))),
        ("STORAGE_S3_URL", Some(format!("{api}/storage/v1/s3"))),
        (
            "DB_URL",
            in_development(database_url(config.db.port, &config.db.name)),
        ),
        ("STUDIO_URL", console),
        // Compat: older versions of the CLI print INBUCKET_URL, newer ones MAILPIT_URL; scripts use either.
        ("INBUCKET_URL", inbox.clone()),
        ("MAILPIT_URL", inbox),
        ("PUBLISHABLE_KEY", optional(&keys.publishable_key)),
        ("SECRET_KEY", optional(&keys.secret_key)),
        ("JWT_SECRET", Some(keys.jwt_secret.expose_secret().to_owned())),
        ("ANON_KEY", Some(keys.anon_key.expose_secret().to_owned())),
        (
            "SERVICE_ROLE_KEY",
            Some(keys.service_role_key.expose_secret().to_owned()),
        ),
        (
            "S3_PROTOCOL_ACCESS_KEY_ID",
            in_development(development::s3_access_key_id()),
        ),
        (
            "S3_PROTOCOL_ACCESS_KEY_SECRET",
            in_development(development::s3_secret_access_key()),
        ),
        ("S3_PROTOCOL_REGION", in_development("local".to_owned())),
    ];
    named
        .into_iter()
        .filter_map(|(name, value)| Some((name.into(), value?)))
        .collect()
}

/// The URL of a database of the embedded cluster, as in the Supabase CLI.
pub(crate) fn database_url(port: u16, name: &str) -> String {
    format!("postgresql://postgres:{EMBEDDED_PASSWORD}@127.0.0.1:{port}/{name}")
}

/// The URL of the inbox's page.
pub(crate) fn inbox_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// The URL of the console in `start`.
pub(crate) fn console_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
