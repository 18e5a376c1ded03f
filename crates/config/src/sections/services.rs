//! The smaller sections: `[realtime]`, `[local_smtp]`, `[edge_runtime]` and `[functions.<slug>]`.

use std::path::{Path, PathBuf};

use secrecy::SecretString;
use selvedge_functions::InspectMode;

use crate::environment::Environment;
use crate::reader::section::Section;

/// Variables of the process that Deno gets for its own downloads: proxies, certificates and registries.
const DENO_VARIABLES: [&str; 14] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "DENO_CERT",
    "DENO_TLS_CA_STORE",
    "DENO_AUTH_TOKENS",
    "NPM_CONFIG_REGISTRY",
    "JSR_URL",
];

/// `[realtime]`.
#[derive(Debug, Clone)]
pub struct RealtimeSection {
    /// Whether `/realtime/v1` is served. Default true.
    pub enabled: bool,
    /// Most open sockets of this process; 0: any number. Default 10000.
    pub max_sockets: usize,
    /// Most channels of one socket. Default 100.
    pub max_channels_per_socket: usize,
    /// Most subscriptions to database changes of one client address; 0: any number. Default 2000.
    pub max_bindings_per_address: usize,
    /// Joins a second, averaged over a minute; 0: any number. Default 0.
    pub max_joins_per_second: u32,
    /// Messages received and delivered a second, averaged over a minute; 0: any number. Default 0.
    pub max_events_per_second: u32,
    /// Presence messages a second, averaged over a minute; 0: any number. Default 0.
    pub max_presence_events_per_second: u32,
    /// Presence pushes of one channel within 30 seconds; 0: any number. Default 5.
    pub max_presence_pushes: u32,
    /// Longest payload of a broadcast or presence push in bytes. Default 3000000.
    pub max_payload_bytes: usize,
    /// Most bytes that wait for one slow reader before its socket is closed. Default 16777216.
    pub max_queued_bytes: usize,
    /// Whether public channels are refused. Default false.
    pub private_only: bool,
    /// Database connections for policy checks and replays. Default 4.
    pub database_connections: usize,
}

impl RealtimeSection {
    pub(crate) fn read(section: &Section<'_>) -> Self {
        section.choice("ip_version", (), &[("IPv4", ()), ("IPv6", ())]);
        section.integer("max_header_length", 4096_u32, 1..=u32::MAX);
        Self {
            enabled: section.is_enabled(true),
            max_sockets: section.integer("max_sockets", 10_000, 0..=10_000_000),
            max_channels_per_socket: section.integer("max_channels_per_socket", 100, 1..=100_000),
            max_bindings_per_address: section.integer("max_bindings_per_address", 2000, 0..=10_000_000),
            max_joins_per_second: section.integer("max_joins_per_second", 0, 0..=u32::MAX),
            max_events_per_second: section.integer("max_events_per_second", 0, 0..=u32::MAX),
            max_presence_events_per_second: section.integer(
                "max_presence_events_per_second",
                0,
                0..=u32::MAX,
            ),
            max_presence_pushes: section.integer("max_presence_pushes", 5, 0..=u32::MAX),
            max_payload_bytes: section.integer("max_payload_bytes", 3_000_000, 1..=100_000_000),
            max_queued_bytes: section.integer("max_queued_bytes", 16 * 1024 * 1024, 65_536..=1_073_741_824),
            private_only: section.bool("private_only", false),
            database_connections: section.integer("database_connections", 4, 1..=1000),
        }
    }
}

/// `[local_smtp]`, `[inbucket]` in older projects: the development inbox that catches the mail of `selvedge start`.
#[derive(Debug, Clone)]
pub struct InboxSection {
    /// Default true.
    pub enabled: bool,
    /// Port of the inbox's page and API. Default 54324.
    pub port: u16,
    /// Port on which the inbox accepts mail of other programs by SMTP. Default: none.
    pub smtp_port: Option<u16>,
    /// Sender address of development mail. Default `admin@email.com`.
    pub admin_email: String,
    /// Sender name of development mail. Default `Admin`.
    pub sender_name: String,
}

impl InboxSection {
    /// Reads `[local_smtp]`, and what it leaves out from the older `[inbucket]`.
    pub(crate) fn read(section: &Section<'_>, older: &Section<'_>) -> Self {
        section.ignore(&["pop3_port"]);
        older.ignore(&["pop3_port"]);
        let text = |key, default: &str| {
            let older_text = older.optional_string(key);
            section
                .optional_string(key)
                .or(older_text)
                .unwrap_or_else(|| default.to_owned())
        };
        // Both sections are read for every key, because a key that is not read is reported as unknown.
        let older_port = older.port("port", 54324);
        let older_smtp_port = older.optional_port("smtp_port");
        let is_older_enabled = older.is_enabled(true);
        Self {
            enabled: section.is_enabled(is_older_enabled),
            port: section.port("port", older_port),
            smtp_port: section.optional_port("smtp_port").or(older_smtp_port),
            admin_email: text("admin_email", "admin@email.com"),
            sender_name: text("sender_name", "Admin"),
        }
    }
}

/// `[edge_runtime]` and `[functions.<slug>]`.
#[derive(Debug, Clone)]
pub struct FunctionsSection {
    /// Whether `/functions/v1` is served. Default true.
    pub enabled: bool,
    /// `policy`: how requests are distributed to a function's processes. Default `per_worker`.
    pub policy: FunctionPolicy,
    /// `[edge_runtime.secrets]`: environment variables of the functions.
    pub secrets: Vec<(String, SecretString)>,
    /// The declared functions.
    pub functions: Vec<FunctionSection>,
    /// `PATH` of the process, on which the Deno program is searched.
    pub path: Option<String>,
    /// The values of those of [`DENO_VARIABLES`] that are set.
    pub deno_environment: Vec<(String, String)>,
    /// `--env-file`
    pub env_file: Option<PathBuf>,
    /// `--import-map`
    pub import_map: Option<PathBuf>,
    /// `--no-verify-jwt`
    pub no_verify_jwt: bool,
    /// Whether a line is logged for each call of a function, as `functions serve` does.
    pub announces_calls: bool,
    /// `inspector_port`: the debugger's port. Default 8083.
    pub inspector_port: u16,
    /// `--inspect` and `--inspect-mode`; `None` without them.
    pub inspect: Option<InspectMode>,
}

/// How requests are distributed to a function's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionPolicy {
    /// Until it has been idle for a while.
    PerWorker,
    /// For one request.
    Oneshot,
}

/// `[functions.<slug>]`.
#[derive(Debug, Clone)]
pub struct FunctionSection {
    /// The name in the URL.
    pub slug: String,
    /// Whether the function is served; calls to a disabled one get 404. Default true.
    pub enabled: bool,
    /// Whether a call needs a valid JWT. Default true.
    pub verify_jwt: bool,
    /// Import map, relative to the project.
    pub import_map: Option<PathBuf>,
    /// Default `./functions/<slug>/index.ts`.
    pub entrypoint: PathBuf,
    /// Files the function may read, as glob patterns.
    pub static_files: Vec<String>,
    /// `[functions.<slug>.env]`: variables of this function only.
    pub env: Vec<(String, SecretString)>,
}

impl FunctionsSection {
    pub(crate) fn read(
        runtime: &Section<'_>,
        functions: &Section<'_>,
        project: &Path,
        environment: &Environment,
    ) -> Self {
        runtime.ignore(&["deno_version"]);
        let enabled = runtime.is_enabled(true);
        let variable = |name: &str| environment.get(name).map(str::to_owned);
        Self {
            enabled,
            policy: runtime.choice(
                "policy",
                FunctionPolicy::PerWorker,
                &[
                    ("per_worker", FunctionPolicy::PerWorker),
                    ("oneshot", FunctionPolicy::Oneshot),
                ],
            ),
            secrets: runtime.section("secrets").secret_entries(),
            functions: functions
                .entry_names()
                .into_iter()
                .map(|slug| read_function(&functions.section(&slug), &slug, project))
                .collect(),
            path: variable("PATH").filter(|_| environment.is_of_process("PATH")),
            deno_environment: DENO_VARIABLES
                .iter()
                // A file of the project would choose the proxy and the certificates with which the user's own tokens are sent.
                .filter(|name| environment.is_of_process(name))
                .filter_map(|name| Some(((*name).to_owned(), variable(name)?)))
                .collect(),
            env_file: None,
            import_map: None,
            no_verify_jwt: false,
            announces_calls: false,
            inspector_port: runtime.port("inspector_port", 8083),
            inspect: None,
        }
    }
}

fn read_function(section: &Section<'_>, slug: &str, project: &Path) -> FunctionSection {
    FunctionSection {
        slug: slug.to_owned(),
        enabled: section.is_enabled(true),
        verify_jwt: section.bool("verify_jwt", true),
        import_map: section.optional_path("import_map", project),
        entrypoint: section
            .optional_path("entrypoint", project)
            .unwrap_or_else(|| project.join(format!("functions/{slug}/index.ts"))),
        static_files: section.strings("static_files", &[]),
        env: section.section("env").secret_entries(),
    }
}
