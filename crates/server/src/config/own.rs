//! `[selvedge]`: our own keys, each overridden by `SELVEDGE_<KEY>`.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::own_auth::OwnAuthSection;
use super::project::Project;
use super::section::Section;

/// `[selvedge]`.
#[derive(Debug, Clone)]
pub struct OwnSection {
    /// Folder of a built single-page site, relative to the project, served at `/`. Default: none.
    pub site: Option<PathBuf>,
    /// Lines printed after a start: demo logins, hints.
    pub notes: Vec<String>,
    /// Folder of everything that `start` keeps: the cluster, objects, logs. Default `.selvedge` in the
    /// project.
    pub data_dir: PathBuf,
    /// Folder with PostgreSQL's programs (`initdb`, `postgres`). Default: looked for.
    pub pg_bin: Option<PathBuf>,
    /// An external database, `postgresql://…`; also read from `DATABASE_URL`.
    pub database_url: Option<SecretString>,
    /// Address to listen on. Default `127.0.0.1` in `start`, `0.0.0.0` in `serve`.
    pub host: Option<String>,
    /// Threads that serve requests. Default: one per core.
    pub workers: Option<usize>,
    /// Database connections that each worker keeps for REST. Default 2.
    pub connections_per_worker: usize,
    /// Database connections shared by auth and storage. Default 10 each.
    pub service_connections: usize,
    /// Whether requests need an API key. Default false in `start`; `serve` always requires one.
    pub require_keys: bool,
    /// Logs as one JSON object per line. Default false in `start`, true in `serve`.
    pub json_logs: Option<bool>,
    /// What is logged, as `tracing` filters: `info`, `selvedge_rest=debug,warn`. Default `warn` in `start`,
    /// `info` in `serve`.
    pub log: Option<String>,
    /// Whether every request is logged, not only failed and slow ones. Default false.
    pub access_log: bool,
    /// Whether `/metrics` is served. Default true.
    pub metrics: bool,
    /// How long a stop waits for running requests. Default 10s.
    pub shutdown_timeout: Duration,
    /// Limits of every request.
    pub limits: LimitsSection,
    /// What the CLI's `[auth]` has no keys for.
    pub auth: OwnAuthSection,
    /// The bucket that holds all objects. Default: files in `data_dir`.
    pub s3: Option<S3Section>,
    /// Credentials of the S3 protocol.
    pub s3_protocol: S3ProtocolSection,
}

/// `[selvedge.s3]`: objects in a bucket of an S3-compatible store.
#[derive(Debug, Clone)]
pub struct S3Section {
    /// The bucket; it must exist. Setting it chooses this backend.
    pub bucket: String,
    /// In front of every key in the bucket. Default empty.
    pub prefix: String,
    /// Address of the store. Default: AWS in `region`.
    pub endpoint: Option<String>,
    /// Region for signatures. Default `us-east-1`.
    pub region: String,
    /// Access key.
    pub access_key_id: String,
    /// Its secret.
    pub secret_access_key: SecretString,
    /// Token of temporary credentials.
    pub session_token: Option<SecretString>,
    /// Whether the bucket is named in the path. Default: true with an `endpoint`.
    pub path_style: bool,
}

/// `[selvedge.s3_protocol]`: who may call `/storage/v1/s3` past all policies.
#[derive(Debug, Clone)]
pub struct S3ProtocolSection {
    /// What the endpoint calls its region. Default `local`.
    pub region: String,
    /// Access key. Default: the CLI's in `start`, none in `serve`.
    pub access_key_id: Option<String>,
    /// Its secret.
    pub secret_access_key: Option<SecretString>,
}

/// `[selvedge.limits]`.
#[derive(Debug, Clone)]
pub struct LimitsSection {
    /// The longest a request to rest, auth or graphql may take. Default 60s.
    pub request_timeout: Duration,
    /// How long a client may take to send its headers. Default 10s.
    pub header_timeout: Duration,
    /// Open connections per worker. Default 10000.
    pub connections_per_worker: usize,
    /// Open connections of one address, for each port; more are refused with 429. Default: any number.
    pub connections_per_address: Option<usize>,
    /// Requests that one worker answers at a time; more are refused with 503. Default 2000.
    pub in_flight_per_worker: usize,
    /// Times a second that one client may ask for one rendered picture, on average over four seconds; 0 is no limit.
    /// Default 0.
    pub render_per_second: u32,
    /// Proxies in front of the server whose `X-Forwarded-For` is believed. Default 0.
    pub trusted_proxies: usize,
    /// A request that takes longer is logged. Default 1s.
    pub slow_request: Duration,
}

impl OwnSection {
    pub(super) fn read(section: &Section<'_>, project: &Project) -> Self {
        let database_url = section.optional_secret("database_url");
        Self {
            site: section.optional_path("site", &project.folder),
            notes: section.strings("notes", &[]),
            data_dir: section
                .optional_path("data_dir", &project.folder)
                .unwrap_or_else(|| project.default_data_dir()),
            pg_bin: section.optional_path("pg_bin", &project.folder),
            database_url,
            host: section.optional_string("host"),
            workers: section.optional_integer("workers", 1..=1024),
            connections_per_worker: section.integer("connections_per_worker", 2, 1..=256),
            service_connections: section.integer("service_connections", 10, 1..=1000),
            require_keys: section.bool("require_keys", false),
            json_logs: section.optional_bool("json_logs"),
            log: section.optional_string("log"),
            access_log: section.bool("access_log", false),
            metrics: section.bool("metrics", true),
            shutdown_timeout: section.duration("shutdown_timeout", Duration::from_secs(10)),
            limits: LimitsSection::read(&section.section("limits")),
            auth: OwnAuthSection::read(&section.section("auth")),
            s3: S3Section::read(&section.section("s3")),
            s3_protocol: S3ProtocolSection::read(&section.section("s3_protocol")),
        }
    }
}

impl S3Section {
    /// None without a bucket: then the other keys say nothing.
    fn read(section: &Section<'_>) -> Option<Self> {
        let bucket = section.optional_string("bucket");
        let endpoint = section.optional_string("endpoint");
        let found = Self {
            prefix: section.string("prefix", ""),
            region: section.string("region", "us-east-1"),
            access_key_id: section.string("access_key_id", ""),
            secret_access_key: section.optional_secret("secret_access_key").unwrap_or_default(),
            session_token: section.optional_secret("session_token"),
            path_style: section.bool("path_style", endpoint.is_some()),
            bucket: bucket.clone()?,
            endpoint,
        };
        if found.access_key_id.is_empty() {
            section.refuse("access_key_id", "is needed with a bucket");
        }
        if found.secret_access_key.expose_secret().is_empty() {
            section.refuse("secret_access_key", "is needed with a bucket");
        }
        Some(found)
    }
}

impl S3ProtocolSection {
    fn read(section: &Section<'_>) -> Self {
        let found = Self {
            region: section.string("region", "local"),
            access_key_id: section.optional_string("access_key_id"),
            secret_access_key: section.optional_secret("secret_access_key"),
        };
        match (&found.access_key_id, &found.secret_access_key) {
            (Some(_), None) => section.refuse("secret_access_key", "is needed with an access_key_id"),
            (None, Some(_)) => section.refuse("access_key_id", "is needed with a secret_access_key"),
            _ => {}
        }
        found
    }
}

impl LimitsSection {
    fn read(section: &Section<'_>) -> Self {
        Self {
            request_timeout: section.duration("request_timeout", Duration::from_secs(60)),
            header_timeout: section.duration("header_timeout", Duration::from_secs(10)),
            connections_per_worker: section.integer("connections_per_worker", 10_000, 1..=1_000_000),
            connections_per_address: section.optional_integer("connections_per_address", 1..=1_000_000),
            in_flight_per_worker: section.integer("in_flight_per_worker", 2000, 1..=1_000_000),
            render_per_second: section.integer("render_per_second", 0, 0..=1_000_000),
            trusted_proxies: section.integer("trusted_proxies", 0, 0..=16),
            slow_request: section.duration("slow_request", Duration::from_secs(1)),
        }
    }
}
