//! `[selvedge]`: keys that the Supabase CLI does not have, each overridden by `SELVEDGE_<KEY>`.

mod auth;
mod database_gate;
mod dev_sign_in;
mod functions;
mod generator;
mod import;
mod jobs;
mod named_path;
mod nats;
mod pg;
mod queues;
mod replicas;
mod telemetry;
mod tenants;
mod tls;

use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use selvedge_limits::ShareLimit;

use crate::project::Project;
use crate::reader::section::Section;

pub use auth::SelvedgeAuthSection;
use database_gate::DatabaseGateSection;
pub use dev_sign_in::DevSignInSection;
pub use functions::SelvedgeFunctionsSection;
pub use generator::GeneratorSection;
pub use import::ImportSection;
pub use jobs::JobsSection;
pub use named_path::NamedPath;
pub use nats::NatsSection;
use pg::PgSection;
pub(crate) use queues::QUEUES_SCHEMA;
use queues::QueuesSection;
pub use replicas::ReplicasSection;
use telemetry::TelemetrySection;
use tenants::TenantsSection;
pub use tls::TlsSection;

/// `[selvedge]`.
#[derive(Debug, Clone)]
pub struct SelvedgeSection {
    /// Folder of a built single-page site, relative to the project, served at `/`. Default: none.
    pub site: Option<PathBuf>,
    /// Function of the project that describes the site's pages, as `schema.function`. Default: none.
    pub page_meta: Option<String>,
    /// Lines that `start` prints when it is ready, such as demo logins.
    pub notes: Vec<String>,
    /// Folder of everything that `start` stores: the cluster, objects, logs. Default: `.selvedge` in the project.
    pub data_dir: PathBuf,
    /// Whether a variable of the process names `data_dir`, and no file that came with the project.
    pub is_data_dir_of_process: bool,
    /// Programs, files and folders that files of the project name: all programs, and what is read for others, wherever it is.
    pub paths_of_files: Vec<NamedPath>,
    /// Folder with PostgreSQL's programs (`initdb`, `postgres`). Default: searched on the machine.
    pub pg_bin: Option<PathBuf>,
    /// An external database, `postgresql://…`; also read from `DATABASE_URL`.
    pub database_url: Option<SecretString>,
    /// Whether the address is from a variable of the process, which is often set for other programs of the project as well.
    pub is_database_of_process: bool,
    /// Hosts and database of an address that only a file of the project names, so that it does not count for this command.
    pub ignored_database_url: Option<String>,
    /// Hosts and databases of the addresses that files of the project name, whatever flags and variables of the process say.
    pub file_databases: Vec<String>,
    /// Path, on the database's machine, of the file with the vault's root key. This key and the next six are operator keys, read from the environment alone
    /// (`operator_keys.rs`). Default: beside the embedded cluster's data.
    pub vault_key_file: Option<String>,
    /// The password of `supabase_admin`, the superuser of the embedded cluster. Default: one made by chance, in the file
    /// `superuser-password` of `data_dir`.
    pub superuser_password: Option<SecretString>,
    /// The password of the services' logins to an external database: `migrate up` sets it. Default: as it is; on a new database one
    /// made by chance, which is printed.
    pub service_password: Option<SecretString>,
    /// The password of the console's logins to an external database: `migrate up` sets it, `serve` logs in with it. Default: none is
    /// set, and `serve` takes that of the URL.
    pub console_password: Option<SecretString>,
    /// The password of `postgres` in an external database, who owns the project's objects: `migrate up` sets it if a superuser runs it,
    /// and migrations, pg_cron's jobs and changes of the schema log in with it. Default: none is set.
    pub postgres_password: Option<SecretString>,
    /// Whether `migrate up` makes the three roles that reach files superusers on an external PostgreSQL 15, so that `postgres` cannot
    /// become a member. Default: `migrate up` asks for a decision.
    pub reserve_file_roles: Option<bool>,
    /// Whether `migrate up` goes on although roles with more rights than `postgres` have passwords that are stored by md5. Default
    /// false.
    pub accept_md5_roles: bool,
    /// Address to listen on. Default `127.0.0.1` in `start`, `0.0.0.0` in `serve`.
    pub host: Option<String>,
    /// Host names to which `start` answers besides local ones, `external_url`'s and `site_url`'s. Default: none.
    pub allowed_hosts: Vec<String>,
    /// Threads that serve requests. Default: one per core.
    pub workers: Option<usize>,
    /// Database connections that each worker keeps open for REST. Default 2.
    pub connections_per_worker: usize,
    /// The maximum number of database connections of auth, and of storage. Default 10 each.
    pub service_connections: usize,
    /// Whether requests need an API key. Default false in `start`; `serve` always requires one.
    pub require_keys: bool,
    /// Logs as one JSON object per line. Default false in `start`, true in `serve`.
    pub json_logs: Option<bool>,
    /// The log level as a `tracing` filter: `info`, `selvedge_rest=debug,warn`. Default `warn` in `start`, `info` in
    /// `serve`.
    pub log: Option<String>,
    /// Whether every request is logged, not only failed and slow ones. Default false.
    pub access_log: bool,
    /// Whether responses of REST are compressed for clients that accept it. Default true.
    pub compress_responses: bool,
    /// Whether `/metrics` is served. Default true.
    pub metrics: bool,
    /// How long a stop still accepts requests while `/health/ready` answers 503, so that load balancers notice it before the
    /// listeners close. Default 0s.
    pub drain_delay: Duration,
    /// How long a stop waits for requests in progress. Default 10s.
    pub shutdown_timeout: Duration,
    /// How long the old process finishes requests and keeps idle connections after a handover. Default 5m.
    pub handover_timeout: Duration,
    /// Limits of every request.
    pub limits: LimitsSection,
    /// `[selvedge.auth]`: settings of the auth service that the CLI's `[auth]` lacks.
    pub auth: SelvedgeAuthSection,
    /// `[selvedge.database_gate]`: the port by which people reach the database of a home. Default: none.
    pub database_gate: Option<DatabaseGateSection>,
    /// `[selvedge.dev_sign_in]`: sign-in pages in place of identity providers, in `start` only.
    pub dev_sign_in: DevSignInSection,
    /// `[selvedge.functions]`: the Deno program, and limits of edge functions.
    pub functions: SelvedgeFunctionsSection,
    /// `[selvedge.generator]`: generated pictures. Default: none are made.
    pub generator: Option<GeneratorSection>,
    /// `[selvedge.import]`: the function that reads products from a retailer's pages. Default: none.
    pub import: Option<ImportSection>,
    /// `[selvedge.jobs]`: the workers behind pg_net and pg_cron.
    pub jobs: JobsSection,
    /// `[selvedge.s3]`: the S3 bucket that holds all objects. Default: files in `data_dir`.
    pub s3: Option<S3Section>,
    /// Credentials of the S3 protocol.
    pub s3_protocol: S3ProtocolSection,
    /// `[selvedge.nats]`: the message broker between several nodes. Default: none, a node alone.
    pub nats: Option<NatsSection>,
    /// `[selvedge.pg]`: the API of postgres-meta under `/pg`.
    pub pg: PgSection,
    /// `[selvedge.replicas]`: replicas of the database. Default: none, all reads run on the primary.
    pub replicas: Option<ReplicasSection>,
    /// `[selvedge.telemetry]`: where traces of requests are sent.
    pub telemetry: TelemetrySection,
    /// `[selvedge.queues]`: whether the API reaches queues.
    pub queues: QueuesSection,
    /// `[selvedge.tenants]`: how the schema of a caller's tenant is found.
    pub tenants: TenantsSection,
    /// `[selvedge.tls]`: certificates that `serve` obtains by itself. Default: none.
    pub tls: Option<TlsSection>,
}

/// `[selvedge.s3]`: objects in a bucket of an S3-compatible store.
#[derive(Debug, Clone)]
pub struct S3Section {
    /// The bucket; it must exist. Setting it chooses this backend.
    pub bucket: String,
    /// A prefix of every key in the bucket. Default empty.
    pub prefix: String,
    /// URL of the store. Default: AWS in `region`.
    pub endpoint: Option<String>,
    /// Region that requests are signed for. Default `us-east-1`.
    pub region: String,
    /// Access key.
    pub access_key_id: String,
    /// Its secret.
    pub secret_access_key: SecretString,
    /// Session token, for temporary credentials.
    pub session_token: Option<SecretString>,
    /// Whether the bucket is part of the path instead of the host name. Default: true with an `endpoint`.
    pub path_style: bool,
}

/// `[selvedge.s3_protocol]`: the key pair that may call `/storage/v1/s3` without row-level security.
#[derive(Debug, Clone)]
pub struct S3ProtocolSection {
    /// The region of the endpoint, which clients sign for. Default `local`.
    pub region: String,
    /// Access key. Default: the CLI's in `start`, none in `serve`.
    pub access_key_id: Option<String>,
    /// Its secret.
    pub secret_access_key: Option<SecretString>,
}

/// Most open connections of one client address by default.
const CONNECTIONS_PER_ADDRESS: usize = 256;

/// `[selvedge.limits]`.
#[derive(Debug, Clone)]
pub struct LimitsSection {
    /// The time limit of a request to rest, auth or graphql. Default 60s.
    pub request_timeout: Duration,
    /// The time limit for a client to send the head of a request. Default 10s.
    pub header_timeout: Duration,
    /// The maximum number of open connections per worker. Default 10000.
    pub connections_per_worker: usize,
    /// The maximum number of open connections per client address and port; more are refused with 429. Default: 256, once all have
    /// half as many as a worker may have, and no limit behind trusted proxies, whose addresses all clients share. There it is the
    /// limit of each client's sockets.
    pub connections_per_address: Option<ShareLimit>,
    /// The maximum number of open sockets of one client behind trusted proxies, by the address that they report.
    pub sockets_per_address: Option<ShareLimit>,
    /// The maximum number of requests in progress per worker, apart from storage's and functions'; more are refused with
    /// 503. Default 2000.
    pub in_flight_per_worker: usize,
    /// Requests to storage and functions in progress per worker, until their responses were sent. Default 2000.
    pub streaming_per_worker: usize,
    /// The memory that this process may use, in bytes. Default: the limit of its control group, else the machine's memory.
    pub memory: Option<u64>,
    /// The memory in bytes that one process of the project's own PostgreSQL may take for itself; 0 for any. Default: five sixteenths of
    /// the limit of the control group or of `memory`, and never less than PostgreSQL's settings allow it.
    pub postgres_process_memory: Option<u64>,
    /// The maximum of bytes per worker of large responses that clients have not read yet. Default 128 MiB, or less where memory
    /// is short.
    pub unread_bytes_per_worker: Option<usize>,
    /// How long a body or response may stand still before its connection is closed. Default 60s.
    pub stall_timeout: Duration,
    /// The rate in bytes per second at which a slow transfer earns its `stall_timeout` back. Default 1024.
    pub min_transfer_rate: u32,
    /// How often per second one client may request the same rendered image, averaged over four seconds. 0, the default, means no
    /// limit.
    pub render_per_second: u32,
    /// The maximum of unfinished uploads, resumable and S3 multipart together, of one user, or of one address without a user; more
    /// are refused with 429. 0 means no limit. Default 256.
    pub unfinished_uploads: u64,
    /// The maximum of bytes of these uploads. 0 means no limit. Default: 20 times the largest object, at least 1000 MiB.
    pub unfinished_upload_bytes: Option<u64>,
    /// How long an S3 multipart upload waits for its next part before it is removed. Default 24h.
    pub multipart_upload_lifetime: Duration,
    /// The number of proxies in front of the server whose `X-Forwarded-For` is trusted. Default 0.
    pub trusted_proxies: usize,
    /// Requests that take longer are logged. Default 1s.
    pub slow_request: Duration,
    /// Statements of requests that take longer are logged with their text. 0s, the default, logs none.
    pub slow_query: Duration,
}

impl SelvedgeSection {
    /// `has_certificate` says that `[api.tls]` names one.
    pub(crate) fn read(section: &Section<'_>, project: &Project, has_certificate: bool) -> Self {
        Self {
            site: section.optional_path("site", &project.folder),
            page_meta: section.optional_string("page_meta"),
            notes: section.strings("notes", &[]),
            data_dir: read_data_dir(section, project),
            is_data_dir_of_process: false,
            paths_of_files: Vec::new(),
            pg_bin: section.optional_path("pg_bin", &project.folder),
            database_url: section.optional_secret("database_url"),
            is_database_of_process: false,
            ignored_database_url: None,
            file_databases: Vec::new(),
            vault_key_file: section.optional_string("vault_key_file"),
            superuser_password: section.optional_secret("superuser_password"),
            service_password: section.optional_secret("service_password"),
            console_password: section.optional_secret("console_password"),
            postgres_password: section.optional_secret("postgres_password"),
            reserve_file_roles: section.optional_bool("reserve_file_roles"),
            accept_md5_roles: section.bool("accept_md5_roles", false),
            host: section.optional_string("host"),
            allowed_hosts: section.strings("allowed_hosts", &[]),
            workers: section.optional_integer("workers", 1..=1024),
            connections_per_worker: section.integer("connections_per_worker", 2, 1..=256),
            service_connections: section.integer("service_connections", 10, 1..=1000),
            require_keys: section.bool("require_keys", false),
            json_logs: section.optional_bool("json_logs"),
            log: section.optional_string("log"),
            access_log: section.bool("access_log", false),
            compress_responses: section.bool("compress_responses", true),
            metrics: section.bool("metrics", true),
            drain_delay: section.duration("drain_delay", Duration::ZERO),
            shutdown_timeout: section.duration("shutdown_timeout", Duration::from_secs(10)),
            handover_timeout: section.duration("handover_timeout", Duration::from_secs(300)),
            limits: LimitsSection::read(&section.section("limits")),
            auth: SelvedgeAuthSection::read(&section.section("auth")),
            database_gate: DatabaseGateSection::read(&section.section("database_gate")),
            dev_sign_in: DevSignInSection::read(&section.section("dev_sign_in")),
            functions: SelvedgeFunctionsSection::read(&section.section("functions"), &project.folder),
            generator: GeneratorSection::read(&section.section("generator")),
            import: ImportSection::read(&section.section("import")),
            jobs: JobsSection::read(&section.section("jobs")),
            s3: S3Section::read(&section.section("s3")),
            s3_protocol: S3ProtocolSection::read(&section.section("s3_protocol")),
            nats: NatsSection::read(&section.section("nats"), &project.folder),
            pg: PgSection::read(&section.section("pg")),
            replicas: ReplicasSection::read(&section.section("replicas")),
            telemetry: TelemetrySection::read(&section.section("telemetry")),
            queues: QueuesSection::read(&section.section("queues")),
            tenants: TenantsSection::read(&section.section("tenants")),
            tls: TlsSection::read(&section.section("tls"), project, has_certificate),
        }
    }
}

fn read_data_dir(section: &Section<'_>, project: &Project) -> PathBuf {
    let named = section.optional_path("data_dir", &project.folder);
    named.unwrap_or_else(|| project.default_data_dir())
}

impl S3Section {
    /// `None` without a `bucket`, as the other keys are then meaningless.
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
            section.report_error("access_key_id", "is needed with a bucket");
        }
        if found.secret_access_key.expose_secret().is_empty() {
            section.report_error("secret_access_key", "is needed with a bucket");
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
            (Some(_), None) => section.report_error("secret_access_key", "is needed with an access_key_id"),
            (None, Some(_)) => section.report_error("access_key_id", "is needed with a secret_access_key"),
            _ => {}
        }
        found
    }
}

impl LimitsSection {
    fn read(section: &Section<'_>) -> Self {
        let trusted_proxies = section.integer("trusted_proxies", 0, 0..=16);
        let connections_per_worker = section.integer("connections_per_worker", 10_000, 1..=1_000_000);
        let given = section.optional_integer("connections_per_address", 0..=1_000_000);
        let sockets_per_address = match given {
            Some(0) => None,
            Some(most) => Some(ShareLimit { most, counts_from: 0 }),
            // A script that sends a thousand requests at once is no attack as long as others find room.
            None => Some(ShareLimit {
                most: CONNECTIONS_PER_ADDRESS,
                counts_from: connections_per_worker / 2,
            }),
        };
        Self {
            request_timeout: section.duration("request_timeout", Duration::from_secs(60)),
            header_timeout: section.duration("header_timeout", Duration::from_secs(10)),
            connections_per_worker,
            connections_per_address: sockets_per_address.filter(|_| given.is_some() || trusted_proxies == 0),
            sockets_per_address,
            in_flight_per_worker: section.integer("in_flight_per_worker", 2000, 1..=1_000_000),
            streaming_per_worker: section.integer("streaming_per_worker", 2000, 1..=1_000_000),
            memory: section.optional_size("memory").filter(|bytes| *bytes > 0),
            postgres_process_memory: section.optional_size("postgres_process_memory"),
            unread_bytes_per_worker: section
                .optional_size("unread_bytes_per_worker")
                .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            stall_timeout: section.duration("stall_timeout", Duration::from_secs(60)),
            min_transfer_rate: section.integer("min_transfer_rate", 1024, 1..=1_000_000_000),
            render_per_second: section.integer("render_per_second", 0, 0..=1_000_000),
            unfinished_uploads: section.integer("unfinished_uploads", 256, 0..=1_000_000),
            unfinished_upload_bytes: section.optional_size("unfinished_upload_bytes"),
            multipart_upload_lifetime: section
                .duration("multipart_upload_lifetime", Duration::from_secs(24 * 3600)),
            trusted_proxies,
            slow_request: section.duration("slow_request", Duration::from_secs(1)),
            slow_query: section.duration("slow_query", Duration::ZERO),
        }
    }
}
