//! Initialises logging by the configuration, for the commands that run as servers.

use selvedge_config::Config;
use selvedge_gateway::logging::{self, LogFormat};

/// Starts logging. `format` and `filter` are the command's defaults; `[selvedge] json_logs` and `log` win over them.
pub(super) fn start_logging(config: &Config, format: LogFormat, filter: &str) {
    let format = match config.selvedge.json_logs {
        None => format,
        Some(true) => LogFormat::Json,
        Some(false) => LogFormat::Pretty,
    };
    logging::init_logging(format, config.selvedge.log.as_deref().unwrap_or(filter));
}
