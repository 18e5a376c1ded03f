//! `[selvedge.functions]`: the Deno program, and limits of edge functions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use selvedge_functions::WorkerLimits;

use crate::reader::section::Section;

/// `[selvedge.functions]`.
#[derive(Debug, Clone)]
pub struct SelvedgeFunctionsSection {
    /// The Deno program, relative to the project. Default: searched on `PATH`, then in `node_modules`.
    pub deno: Option<PathBuf>,
    /// Folders outside of the repository whose modules functions may import, relative to the project. Default none.
    pub module_folders: Vec<PathBuf>,
    /// Folder of downloaded modules, relative to the project. Default: `functions/cache` in `data_dir`.
    pub cache_dir: Option<PathBuf>,
    /// The maximum number of workers of one function. Default 1 in `start`, one per core in `serve`.
    pub workers: Option<usize>,
    /// Whether changed source files are noticed. Default true in `start`, false in `serve`.
    pub reload: Option<bool>,
    /// Whether functions get `SUPABASE_DB_URL` in `serve`: the login of `postgres` with `[selvedge] postgres_password`. Default false;
    /// in `start` they always get it.
    pub database_access: bool,
    /// `memory`, `temporary_files`, `wall_clock`, `cpu_soft`, `cpu`, `boot_timeout`, `response_timeout`, `idle_timeout`, `grace`: limits of
    /// each worker.
    pub limits: WorkerLimits,
}

impl SelvedgeFunctionsSection {
    pub(super) fn read(section: &Section<'_>, project: &Path) -> Self {
        let usual = WorkerLimits::default();
        Self {
            deno: section.optional_path("deno", project),
            module_folders: section
                .strings("module_folders", &[])
                .into_iter()
                .map(|folder| project.join(folder))
                .collect(),
            cache_dir: section.optional_path("cache_dir", project),
            workers: section.optional_integer("workers", 1..=256),
            reload: section.optional_bool("reload"),
            database_access: section.bool("database_access", false),
            limits: WorkerLimits {
                memory_bytes: section.size("memory", usual.memory_bytes),
                temporary_bytes: section.size("temporary_files", usual.temporary_bytes),
                wall_clock: at_least_a_second(section, "wall_clock", usual.wall_clock),
                cpu_soft: section.duration("cpu_soft", usual.cpu_soft),
                cpu_hard: section.duration("cpu", usual.cpu_hard),
                boot: at_least_a_second(section, "boot_timeout", usual.boot),
                idle_response: at_least_a_second(section, "response_timeout", usual.idle_response),
                idle_worker: section.duration("idle_timeout", usual.idle_worker),
                grace: section.duration("grace", usual.grace),
            },
        }
    }
}

fn at_least_a_second(section: &Section<'_>, key: &str, default: Duration) -> Duration {
    let duration = section.duration(key, default);
    if duration < Duration::from_secs(1) {
        section.report_error(key, "must be at least 1s");
    }
    duration
}
