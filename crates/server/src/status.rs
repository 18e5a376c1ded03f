//! The names and values that `status` prints and scripts read. Source: gateway contract §6.

use secrecy::{ExposeSecret, SecretString};
use selvedge_postgres::cluster::LockHolder;
use selvedge_token::development;

use crate::config::Config;
use crate::key_set::KeySet;
use crate::output::Values;

/// Password of the embedded cluster's roles: the CLI's, reachable from this machine only.
pub(crate) const DATABASE_PASSWORD: &str = "postgres";

/// The ports of a running instance, as its lock tells them.
pub(crate) struct Ports {
    api: u16,
    database: u16,
    inbox: Option<u16>,
}

impl Ports {
    /// The order in which `start` names its ports to the lock: the API, then the inbox.
    pub(crate) fn to_lock(config: &Config) -> Vec<u16> {
        let inbox = config.inbox.enabled.then_some(config.inbox.port);
        std::iter::once(config.api.port).chain(inbox).collect()
    }

    /// Nothing while the instance has not written its ports yet.
    pub(crate) fn from_lock(holder: &LockHolder) -> Option<Self> {
        let mut ports = holder.service_ports.iter().copied();
        Some(Self {
            api: ports.next()?,
            database: holder.database_port,
            inbox: ports.next(),
        })
    }

    pub(crate) fn apply(&self, config: &mut Config) {
        config.api.port = self.api;
        config.db.port = self.database;
        config.inbox.enabled = self.inbox.is_some();
        config.inbox.port = self.inbox.unwrap_or(config.inbox.port);
    }
}

/// Addresses and keys of a running instance, in the order of printing.
pub(crate) fn values(config: &Config, keys: &KeySet) -> Values {
    let api = config.api_url();
    let inbox = config.inbox.enabled.then(|| inbox_url(config.inbox.port));
    let optional = |key: &Option<SecretString>| key.as_ref().map(|key| key.expose_secret().to_owned());
    let named = [
        ("API_URL", Some(api.clone())),
        ("REST_URL", Some(format!("{api}/rest/v1"))),
        ("GRAPHQL_URL", Some(format!("{api}/graphql/v1"))),
        ("FUNCTIONS_URL", Some(format!("{api}/functions/v1"))),
        ("STORAGE_S3_URL", Some(format!("{api}/storage/v1/s3"))),
        ("DB_URL", Some(database_url(config.db.port))),
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
        ("S3_PROTOCOL_ACCESS_KEY_ID", Some(development::s3_access_key_id())),
        (
            "S3_PROTOCOL_ACCESS_KEY_SECRET",
            Some(development::s3_secret_access_key()),
        ),
        ("S3_PROTOCOL_REGION", Some("local".to_owned())),
    ];
    named
        .into_iter()
        .filter_map(|(name, value)| Some((name.into(), value?)))
        .collect()
}

/// The well-known URL of the embedded database.
pub(crate) fn database_url(port: u16) -> String {
    format!("postgresql://postgres:{DATABASE_PASSWORD}@127.0.0.1:{port}/postgres")
}

/// The inbox's page.
pub(crate) fn inbox_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
