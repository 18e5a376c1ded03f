//! How much memory one process of the project's own PostgreSQL may take.

use selvedge_config::Config;
use selvedge_memory::MemoryLimit;
use selvedge_postgres::cluster::ProductionProfile;

use super::setting_size::parse_setting;

/// The part of the memory that one process may take: neither a single one nor two at once exceed the limit, of which what all share and this
/// process take the rest.
const SIXTEENTHS: u64 = 5;
/// What a process takes besides the memory that its settings allow: caches, and texts that it sends.
const BESIDES: u64 = 64 << 20;
/// The unit of the settings about memory that are read here.
const KIBIBYTE: u64 = 1 << 10;
/// PostgreSQL's defaults.
const MAINTENANCE_WORK_MEM: u64 = 64 << 20;
const WORK_MEM: u64 = 4 << 20;
const HASH_MEM_MULTIPLIER: f64 = 2.0;

/// What one process may take: `postgres_process_memory` of `[selvedge.limits]`, else a part of what bounds it together with this process. `None`
/// where that is the machine, whose system may swap, and for a command that ends, such as a restore: nobody else uses its PostgreSQL.
pub(crate) fn process_memory(config: &Config, production: Option<&ProductionProfile>) -> Option<u64> {
    let limits = &config.selvedge.limits;
    if !config.flags.purpose.is_server {
        return None;
    }
    if let Some(bytes) = limits.postgres_process_memory {
        return (bytes > 0).then_some(bytes);
    }
    let of_group = MemoryLimit::find(None).filter(MemoryLimit::is_of_group);
    // In a home `memory` is the server's part alone.
    let configured = limits.memory.filter(|_| production.is_none());
    let bytes = configured.or(of_group.map(|limit| limit.bytes()))?;
    let of_profile = production.map(ProductionProfile::settings).unwrap_or_default();
    let setting = |name: &str| {
        let set = config.db.settings.iter().find(|(key, _)| key == name);
        let computed = of_profile.iter().find(|(key, _)| *key == name);
        set.map(|(_, value)| value.clone())
            .or_else(|| computed.map(|(_, value)| value.clone()))
    };
    Some((bytes / 16 * SIXTEENTHS).max(needed(setting)))
}

/// What a process takes that uses what its settings allow. VACUUM and sorts of some versions take it whole, before they know how much they need.
fn needed(setting: impl Fn(&str) -> Option<String>) -> u64 {
    let size = |name: &str| setting(name).and_then(|value| parse_setting(&value, KIBIBYTE));
    let maintenance = size("maintenance_work_mem").unwrap_or(MAINTENANCE_WORK_MEM);
    let vacuum = size("autovacuum_work_mem").unwrap_or(maintenance);
    let multiplier = setting("hash_mem_multiplier").and_then(|value| value.trim().parse().ok());
    let hash = size("work_mem").unwrap_or(WORK_MEM) as f64 * multiplier.unwrap_or(HASH_MEM_MULTIPLIER);
    let largest = maintenance.max(vacuum).max(hash as u64);
    largest.saturating_add(largest / 4).saturating_add(BESIDES)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use selvedge_config::{Environment, Flags, Project};
    use selvedge_postgres::cluster::LockPurpose;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn config(limits: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("project_id = \"x\"\n{limits}");
        std::fs::write(folder.path().join("config.toml"), text).unwrap();
        let project = Project::find(Some(folder.path()), Path::new("/")).unwrap();
        let loaded = Config::load_project(project, Environment::default(), &Flags::default()).unwrap();
        loaded.config
    }

    #[test]
    fn gw_049_a_process_may_take_what_its_settings_allow() {
        let needed = |settings: &[(&str, &str)]| {
            let setting = |name: &str| {
                let found = settings.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            needed(setting) / MIB
        };

        assert_eq!(needed(&[]), 80 + 64);
        assert_eq!(needed(&[("maintenance_work_mem", "1GB")]), 1280 + 64);
        assert_eq!(needed(&[("autovacuum_work_mem", "-1")]), 80 + 64);
        assert_eq!(needed(&[("autovacuum_work_mem", "262144")]), 320 + 64);
        let hash = [("work_mem", "100MB"), ("hash_mem_multiplier", "4.0")];
        assert_eq!(needed(&hash), 500 + 64);
    }

    #[test]
    fn gw_049_what_somebody_sets_limits_a_process_and_commands_have_no_limit() {
        let limit = |text: &str| process_memory(&config(text), None).map(|bytes| bytes / MIB);

        assert_eq!(limit("[selvedge.limits]\nmemory = \"1600MiB\"\n"), Some(500));
        let settings = "[db.settings]\nmaintenance_work_mem = \"1GB\"\n";
        let small = format!("[selvedge.limits]\nmemory = \"512MiB\"\n{settings}");
        assert_eq!(limit(&small), Some(1344));
        let own = format!("[selvedge.limits]\npostgres_process_memory = \"700MiB\"\n{settings}");
        assert_eq!(limit(&own), Some(700));
        assert_eq!(
            limit("[selvedge.limits]\nmemory = \"1GiB\"\npostgres_process_memory = 0\n"),
            None
        );

        let mut restore = config("[selvedge.limits]\nmemory = \"1GiB\"\n");
        restore.flags.purpose = LockPurpose::command("restore");
        assert_eq!(process_memory(&restore, None), None);
    }
}
