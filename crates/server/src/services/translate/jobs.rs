//! Configuration: `[selvedge.jobs]` → the workers' struct.

use selvedge_config::{Config, Mode};
use selvedge_database::http_requests::request_limits;
use selvedge_gateway::note_panic;
use selvedge_jobs::{CronConfig, JobsConfig};

/// Limits of the workers. Development calls private addresses, as functions and receivers of webhooks run on the same
/// machine there.
pub(crate) fn jobs_config(config: &Config, mode: Mode) -> JobsConfig {
    let section = &config.selvedge.jobs;
    JobsConfig {
        net: request_limits(config, mode == Mode::Development),
        cron: CronConfig {
            max_running: section.cron_parallel,
            ..CronConfig::default()
        },
        on_panic: note_panic,
    }
}
