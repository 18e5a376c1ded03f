//! How the memory of a machine is divided where PostgreSQL, the server and its functions run on it together.

use selvedge_config::Config;
use selvedge_functions::list_function_folders;
use selvedge_postgres::cluster::ProductionProfile;

use super::available_cores;
use crate::embedded::setting_size::parse_setting;
use crate::state::home::production_profile;

/// What is divided, in hundredths; the rest is the system's.
const DIVIDED: u64 = 90;
/// The unit of `shared_buffers`.
const BLOCK: u64 = 8 << 10;
/// The server's part is not less than this one.
const LEAST_SERVER: u64 = 128 * 1024 * 1024;

/// The parts in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryParts {
    /// What there is: the lowest limit of the control groups around this process, else the machine's memory.
    pub total: u64,
    /// PostgreSQL's shared buffers.
    pub buffers: u64,
    /// PostgreSQL's sessions.
    pub sessions: u64,
    /// One function with all its workers.
    pub functions: u64,
    /// The server: `memory` of `[selvedge.limits]`, else what is left.
    pub server: u64,
}

impl MemoryParts {
    /// The parts for the home of a production database; `None` where this program runs no database in production.
    pub fn of_home(config: &Config) -> Option<Self> {
        // A database on another server is not in this memory.
        let profile = production_profile(config).filter(|_| config.selvedge.database_url.is_none())?;
        let set = config
            .db
            .settings
            .iter()
            .find(|(name, _)| name == "shared_buffers");
        let buffers = set.and_then(|(_, value)| parse_setting(value, BLOCK));
        Some(Self::divide(
            profile,
            buffers,
            functions(config),
            config.selvedge.limits.memory,
        ))
    }

    fn divide(profile: ProductionProfile, buffers: Option<u64>, functions: u64, server: Option<u64>) -> Self {
        let (total, sessions) = (profile.memory, profile.sessions());
        let buffers = buffers.unwrap_or_else(|| profile.shared_buffers());
        let others = buffers.saturating_add(sessions).saturating_add(functions);
        let left = (total / 100 * DIVIDED).saturating_sub(others);
        Self {
            total,
            buffers,
            sessions,
            functions,
            server: server.unwrap_or_else(|| left.max(LEAST_SERVER)),
        }
    }

    /// All parts together in hundredths of what there is.
    pub fn share(&self) -> u64 {
        let sum = [self.buffers, self.sessions, self.functions, self.server]
            .iter()
            .fold(0_u64, |sum, part| sum.saturating_add(*part));
        sum.saturating_mul(100) / self.total.max(1)
    }
}

/// What a function may use with all its workers; 0 where the project has none.
fn functions(config: &Config) -> u64 {
    let has_functions = !list_function_folders(&config.project.folder.join("functions")).is_empty();
    if !config.functions.enabled || !has_functions {
        return 0;
    }
    let own = &config.selvedge.functions;
    let workers = own.workers.unwrap_or_else(available_cores);
    own.limits.memory_bytes.saturating_mul(workers as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    #[test]
    fn prod_017_the_server_gets_what_postgresql_and_functions_leave() {
        let parts = |total, buffers, functions, server| {
            MemoryParts::divide(ProductionProfile { memory: total }, buffers, functions, server)
        };

        let usual = parts(8 * GIB, None, 512 * MIB, None);
        assert_eq!((usual.buffers, usual.sessions), (2 * GIB, GIB));
        assert_eq!(usual.share(), 89);
        // A small machine: PostgreSQL's least, and the server's.
        let small = parts(512 * MIB, None, 0, None);
        assert_eq!((small.buffers, small.sessions), (128 * MIB, 64 * MIB));
        assert!(small.share() <= 90, "{small:?}");
        let tiny = parts(256 * MIB, None, 0, None);
        assert_eq!(tiny.server, 128 * MIB);
        assert!(tiny.share() > 90);
        // What somebody has set counts.
        assert!(parts(8 * GIB, Some(6 * GIB), 0, Some(4 * GIB)).share() > 90);
    }
}
