//! The home of a production database: the folder that `serve` and `cluster run` have marked, in which PostgreSQL outlives the server.

use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_memory::{ControlGroup, machine_memory};
use selvedge_postgres::cluster::{ProductionProfile, is_production_home};

/// The memory of a machine that does not say how much it has.
const UNKNOWN_MEMORY: u64 = 1024 * 1024 * 1024;

/// Whether the project's data folder is the home of a production database.
pub fn is_home(config: &Config) -> bool {
    is_production_home(&config.selvedge.data_dir)
}

/// What PostgreSQL gets in a home, by the memory of this machine; `None` in a folder for development.
pub fn production_profile(config: &Config) -> Option<ProductionProfile> {
    is_home(config).then(|| ProductionProfile {
        memory: total_memory(),
    })
}

/// The memory in bytes that database, server and functions have together: the lowest limit of the control groups around this process,
/// else that of the machine.
pub(crate) fn total_memory() -> u64 {
    let machine = machine_memory().unwrap_or(UNKNOWN_MEMORY);
    let group = ControlGroup::find().map(|group| group.limit_bytes());
    group.map_or(machine, |limit| limit.min(machine))
}

/// Refuses a command for development that would destroy or replace what a home holds. `does` says what it would do.
///
/// # Errors
/// In a home. Nothing was changed.
pub fn refuse_in_home(config: &Config, command: &str, does: &str) -> Result<()> {
    if !is_home(config) {
        return Ok(());
    }
    bail!(
        "{} is the home of a production database, and `selvedge {command}` {does}. Nothing was changed\n  to go back to a backup:  selvedge \
         restore FILE --yes\n  to try something:        on a copy: selvedge backup FILE, then selvedge restore FILE --data-dir OTHER",
        config.selvedge.data_dir.display()
    )
}
