//! How to install extensions that this machine's PostgreSQL does not have.

use std::process::{Command, Stdio};

use nix::unistd::geteuid;
use selvedge_postgres::cluster::{ClusterConfig, npm_platform_name};
use selvedge_postgres::migrate::{MigrateError, MissingExtension};

use super::extension_packages::{find_package, find_programs_for};

/// What the project's cluster runs on, as far as it decides how an extension is added.
#[derive(Debug, Clone, Copy)]
struct Situation {
    /// The major version of the programs that the cluster runs, or will run.
    major_version: u32,
    /// Whether a database of that version exists.
    has_database: bool,
    /// Whether the project names the folder of its programs, so that no others are used.
    has_fixed_programs: bool,
}

/// Replaces the general advice in errors about missing extensions by the command that installs them on this machine.
pub(crate) fn advise_on_missing_extensions(cluster: &ClusterConfig, error: MigrateError) -> MigrateError {
    match error {
        MigrateError::MissingExtensions(missing) => MigrateError::MissingExtensions(
            missing
                .into_iter()
                .map(|extension| advise(cluster, extension))
                .collect(),
        ),
        other => other,
    }
}

fn advise(cluster: &ClusterConfig, mut missing: MissingExtension) -> MissingExtension {
    let apt_package = missing.package.as_deref().filter(|name| has_apt_package(name));
    if let Some(package) = apt_package {
        let sudo = if geteuid().is_root() { "" } else { "sudo " };
        missing.advice = format!("install it:  {sudo}apt-get install {package}");
    } else if let Some(advice) = inspect_situation(cluster)
        .and_then(|situation| advise_on_download(&missing.name, situation, &npm_platform_name()))
    {
        missing.advice = advice;
    }
    missing
}

fn inspect_situation(cluster: &ClusterConfig) -> Option<Situation> {
    Some(Situation {
        major_version: cluster.find_binaries().ok()?.major_version(),
        has_database: cluster.existing_major_version().ok()?.is_some(),
        has_fixed_programs: cluster.pg_bin.is_some(),
    })
}

/// The command that downloads an extension; `None` when no package of it can be used.
fn advise_on_download(name: &str, situation: Situation, platform: &str) -> Option<String> {
    let Situation { major_version, .. } = situation;
    let command = format!("selvedge extension add {name}");
    if find_package(name, major_version, platform).is_some() {
        return Some(format!("run this, which downloads it:  {command}"));
    }
    let (programs, _) = find_programs_for(name, platform).filter(|_| !situation.has_fixed_programs)?;
    let other = programs.major_version;
    Some(if situation.has_database {
        format!(
            "the database was made by PostgreSQL {major_version}, for which no package is known. It can be had with PostgreSQL \
             {other}:  {command}\n    and then, to make the database again from migrations and seeds:  selvedge reset"
        )
    } else {
        format!(
            "run this, which downloads it, and PostgreSQL {other} for it, as no package is known for PostgreSQL \
             {major_version}:  {command}"
        )
    })
}

/// Whether apt can install a package; false on machines without apt.
fn has_apt_package(package: &str) -> bool {
    Command::new("apt-cache")
        .args(["show", "--no-all-versions", package])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRESH: Situation = Situation {
        major_version: 15,
        has_database: false,
        has_fixed_programs: false,
    };

    #[test]
    fn gw_019_pgvector_is_one_command_with_every_version() {
        for major_version in 15..=18 {
            let situation = Situation {
                major_version,
                ..FRESH
            };

            let advice = advise_on_download("vector", situation, "linux-x64").expect("it can be downloaded");

            assert!(advice.ends_with(":  selvedge extension add vector"), "{advice}");
            let brings_programs = advice.contains("PostgreSQL 18 for it");
            assert_eq!(brings_programs, [15, 17].contains(&major_version), "{advice}");
        }
    }

    #[test]
    fn gw_019_a_database_of_another_version_has_to_be_made_again() {
        let situation = Situation {
            has_database: true,
            ..FRESH
        };

        let advice = advise_on_download("vector", situation, "linux-x64").expect("it can be downloaded");

        assert!(advice.contains("made by PostgreSQL 15"), "{advice}");
        assert!(advice.ends_with("selvedge reset"), "{advice}");
    }

    #[test]
    fn gw_019_no_download_is_advised_where_it_would_not_be_used() {
        let fixed = Situation {
            has_fixed_programs: true,
            ..FRESH
        };

        assert_eq!(advise_on_download("vector", fixed, "linux-x64"), None);
        assert_eq!(advise_on_download("vector", FRESH, "freebsd-x64"), None);
        assert_eq!(advise_on_download("postgis", FRESH, "linux-x64"), None);
    }

    #[test]
    fn gw_019_packages_unknown_to_apt_are_not_advised() {
        assert!(!has_apt_package("postgresql-15-no-such-package"));
    }
}
