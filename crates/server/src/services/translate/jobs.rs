//! `[selvedge.jobs]` in the words of the workers.

use selvedge_jobs::{CronConfig, JobsConfig, NetConfig};

use crate::config::Config;
use crate::services::Mode;

/// Limits of the workers. Development calls private addresses, as functions and receivers of webhooks run on the same
/// machine there.
pub(crate) fn jobs_config(config: &Config, mode: Mode) -> JobsConfig {
    let section = &config.selvedge.jobs;
    JobsConfig {
        net: NetConfig {
            calls_private: mode == Mode::Development,
            allowed_hosts: section.http_allowed_hosts.clone(),
            max_parallel: section.http_parallel,
            max_timeout: section.http_timeout,
            max_response_bytes: section.http_response_size,
            ttl: section.http_response_ttl,
        },
        cron: CronConfig {
            max_running: section.cron_parallel,
        },
    }
}
