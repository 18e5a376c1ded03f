//! The configuration of the functions service, which the server fills in.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use selvedge_project_files::RefusedProgram;
use selvedge_token::{ApiKeys, KeyRing};
use serde::{Deserialize, Serialize};

/// Settings of the functions service. Built by the server; nothing here reads files or variables.
#[derive(Debug, Clone)]
pub struct FunctionsConfig {
    /// The folder of `config.toml`. Relative paths of imports in error messages start here.
    pub project: PathBuf,
    /// The folder that holds the project, whose modules functions may import. Version control above it counts instead.
    pub repository: PathBuf,
    /// Folders elsewhere whose modules functions may import as well.
    pub module_folders: Vec<PathBuf>,
    /// Folders and files that no function may import: the data folder, `config.toml`, signing keys.
    pub protected: Vec<PathBuf>,
    /// `functions/` in the project. Each sub-folder with an `index.ts` is a function.
    pub folder: PathBuf,
    /// Holds what is generated for Deno: the bootstrap script and composed import maps.
    pub state_folder: PathBuf,
    /// Deno's cache of downloaded modules (`DENO_DIR`).
    pub cache_folder: PathBuf,
    /// How the Deno program is found.
    pub deno: DenoSearch,
    /// Functions that `config.toml` declares.
    pub declared: Vec<DeclaredFunction>,
    /// How requests are distributed to workers.
    pub policy: Policy,
    /// Whether changed source files are noticed, which costs some `stat` calls ten times a second under load.
    pub reload: bool,
    /// The maximum number of workers of one function.
    pub workers_per_function: usize,
    /// Variables that functions see.
    pub environment: EnvironmentConfig,
    /// Variables for Deno's own network access (proxies, registries), taken from the server's environment.
    pub deno_environment: Vec<(String, String)>,
    /// `--import-map`: wins over every other import map.
    pub import_map: Option<PathBuf>,
    /// `--no-verify-jwt`: no function checks the caller's token.
    pub skips_jwt: bool,
    /// Whether a line is logged for each call, as the Supabase CLI's `functions serve` does.
    pub announces_calls: bool,
    /// `--inspect`: every worker listens for a debugger, and has no time limits.
    pub inspect: Option<Inspect>,
    /// Number of proxies in front of the server whose entries in `X-Forwarded-For` are trusted.
    pub trusted_proxies: usize,
    /// Limits of every worker.
    pub limits: WorkerLimits,
}

/// Where the Deno program is looked for, in this order.
#[derive(Debug, Clone, Default)]
pub struct DenoSearch {
    /// `--deno-bin` or `[selvedge.functions] deno`: nothing else is searched when it is set.
    pub given: Option<PathBuf>,
    /// The variable `PATH`.
    pub path: Option<String>,
    /// Folders that may have a `node_modules` with the npm package `deno`.
    pub folders: Vec<PathBuf>,
    /// What may not run, wherever it is found.
    pub refused: Vec<RefusedProgram>,
}

/// `[functions.<slug>]`.
#[derive(Debug, Clone)]
pub struct DeclaredFunction {
    pub slug: String,
    /// A disabled function is answered with 404.
    pub enabled: bool,
    /// Whether calls need a valid JWT.
    pub verify_jwt: bool,
    pub import_map: Option<PathBuf>,
    pub entrypoint: PathBuf,
    /// Glob patterns, relative to the project.
    pub static_files: Vec<String>,
    /// `[functions.<slug>.env]`.
    pub env: Vec<(String, SecretString)>,
}

/// When a worker serves more than one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// A worker serves many requests at the same time, until a limit retires it.
    PerWorker,
    /// Each request gets a new worker.
    Oneshot,
}

/// The debugger's address and mode. Source: the CLI's `--inspect` and `--inspect-mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inspect {
    pub port: u16,
    pub mode: InspectMode,
}

/// `--inspect-mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum InspectMode {
    /// Start at once.
    Run,
    /// Stop at the first line of the function.
    Break,
    /// Wait for the debugger, then run.
    Wait,
}

/// Variables that functions see besides their own.
#[derive(Debug, Clone, Default)]
pub struct EnvironmentConfig {
    /// `[edge_runtime.secrets]`.
    pub secrets: Vec<(String, SecretString)>,
    /// `--env-file`; `functions/.env` when it is not given.
    pub env_file: Option<PathBuf>,
    /// The variables that the platform gives to every function: `SUPABASE_URL`, the keys, `SUPABASE_DB_URL`.
    pub platform: Vec<(String, SecretString)>,
}

/// Limits of a worker. Source: functions contract §7.
#[derive(Debug, Clone)]
pub struct WorkerLimits {
    /// Memory in bytes that the function may use on top of an empty runtime. Default 256 MiB.
    pub memory_bytes: u64,
    /// Size in bytes of what the function may keep in `/tmp`. Default 512 MiB.
    pub temporary_bytes: u64,
    /// Age at which a worker ends. Default 400 s.
    pub wall_clock: Duration,
    /// Time on the processor without a response being started, after which the worker gets no new requests. Default 1 s.
    pub cpu_soft: Duration,
    /// CPU time after which a worker is killed. Default 2 s.
    pub cpu_hard: Duration,
    /// How long a request waits for a worker that starts; downloads of modules extend it. Default 10 s.
    pub boot: Duration,
    /// How long a function may send nothing. Default 150 s.
    pub idle_response: Duration,
    /// How long a worker without requests stays. Default 30 s.
    pub idle_worker: Duration,
    /// How long a retired worker may continue background work. Default 15 s.
    pub grace: Duration,
}

impl Default for WorkerLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 256 * 1024 * 1024,
            temporary_bytes: 512 * 1024 * 1024,
            wall_clock: Duration::from_secs(400),
            cpu_soft: Duration::from_secs(1),
            cpu_hard: Duration::from_secs(2),
            boot: Duration::from_secs(10),
            idle_response: Duration::from_secs(150),
            idle_worker: Duration::from_secs(30),
            grace: Duration::from_secs(15),
        }
    }
}

/// The project's keys, as far as calls of functions are checked with them.
#[derive(Clone)]
pub struct FunctionKeys {
    /// Verifies JWTs.
    pub ring: Arc<KeyRing>,
    /// The opaque keys (`sb_…`).
    pub api_keys: Arc<ApiKeys>,
    /// The legacy key that functions see instead of a publishable key.
    pub anon_key: SecretString,
    /// The legacy key that functions see instead of a secret key.
    pub service_role_key: SecretString,
}
