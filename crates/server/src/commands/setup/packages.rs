//! Packages of the distribution: which ones come, how they are installed, and which are removed again.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::process::{Command, list_packages, parse_simulation};

/// How long another program that installs packages is waited for: a fresh machine of a provider does so at its first start.
const LOCK_SECONDS: u64 = 300;
/// What apt-get and dpkg print while another program installs packages.
const LOCK_MESSAGES: [&str; 2] = ["Could not get lock", "locked by another"];
const PAUSE: Duration = Duration::from_secs(2);
/// The packages that are removed again: PostgreSQL's. The others that came with it may be needed by something else by now.
pub(super) const OURS: &str = "postgresql";

/// Whether all of them are installed.
///
/// # Errors
/// On a machine without dpkg.
pub(super) fn are_installed(names: &[&str]) -> Result<bool> {
    let installed = list_packages()?;
    Ok(names.iter().all(|name| installed.contains(*name)))
}

/// The packages that come with these and are not there yet.
///
/// # Errors
/// When apt does not know them.
pub(super) fn list_new(names: &[&str]) -> Result<Vec<String>> {
    for command in prepare() {
        run_unlocked(&command)?;
    }
    let simulate = [
        &["apt-get", "install", "--simulate", "--no-install-recommends"][..],
        names,
    ]
    .concat();
    Ok(parse_simulation(&Command::new(&simulate).output()?))
}

/// The commands before anything is installed.
pub(super) fn prepare() -> [Command; 2] {
    [
        // Without a network the lists that are there will do.
        Command::new(&["apt-get", "update", "--quiet"]),
        // What an interrupted run has left half installed would be in the way.
        Command::new(&["dpkg", "--force-confold", "--configure", "--pending"]),
    ]
}

/// The command that installs packages.
pub(super) fn install(names: &[&str]) -> Command {
    let lock = format!("DPkg::Lock::Timeout={LOCK_SECONDS}");
    let words = [
        "apt-get",
        "install",
        "--yes",
        "--quiet",
        "-o",
        &lock,
        // Configuration files that people have changed stay.
        "-o",
        "Dpkg::Options::=--force-confold",
        "--no-install-recommends",
    ];
    Command::new(&[&words[..], names].concat())
}

/// Removes PostgreSQL's packages where nobody uses them, and says what stays.
///
/// # Errors
/// When the packages cannot be listed, or another program installs packages all the time.
pub(super) fn remove(names: &[String]) -> Result<Option<String>> {
    let installed = list_packages()?;
    let names = names.iter().map(String::as_str);
    let (ours, others): (Vec<&str>, Vec<&str>) = names
        .filter(|name| installed.contains(*name))
        .partition(|name| name.starts_with(OURS));
    let mut kept = others;
    if has_clusters()? || runs_postgres()? {
        kept.extend(ours);
    } else if !ours.is_empty() {
        purge(&ours)?;
        let installed = list_packages()?;
        kept.extend(ours.into_iter().filter(|name| installed.contains(*name)));
    }
    Ok((!kept.is_empty()).then(|| {
        format!(
            "packages that came with PostgreSQL, as others may use them; to remove them:  apt-get purge {}",
            kept.join(" ")
        )
    }))
}

/// dpkg keeps what packages of others need by now, which apt-get would remove as well.
fn purge(names: &[&str]) -> Result<()> {
    let purge = Command::new(&[&["dpkg", "--purge"][..], names].concat());
    match run_unlocked(&purge)? {
        true => Ok(()),
        false => bail!("{purge}: another program has installed packages for {LOCK_SECONDS} seconds"),
    }
}

/// Runs a command, whose failure stops nothing, when no other program installs packages. These do not wait for it themselves. Returns whether
/// it was run.
fn run_unlocked(command: &Command) -> Result<bool> {
    let deadline = Instant::now() + Duration::from_secs(LOCK_SECONDS);
    loop {
        if !is_locked(&command.print()?) {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Whether a command has printed that another program installs packages.
fn is_locked(printed: &str) -> bool {
    LOCK_MESSAGES.iter().any(|text| printed.contains(text))
}

/// Whether somebody has a cluster of Debian's packages, whose programs must stay.
fn has_clusters() -> Result<bool> {
    let clusters = Path::new("/etc/postgresql");
    if !clusters.is_dir() {
        return Ok(false);
    }
    for version in fs::read_dir(clusters).context("/etc/postgresql")? {
        let version = version?.path();
        if version.is_dir() && fs::read_dir(&version)?.next().is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether another PostgreSQL runs: that of a project of people is one of these programs, or a copy of them.
fn runs_postgres() -> Result<bool> {
    let processes = fs::read_dir("/proc").context("/proc")?;
    let mut names = processes
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path().join("comm")).ok());
    Ok(names.any(|name| name.trim() == "postgres"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_008_a_lock_is_known_by_what_each_program_prints() {
        for printed in [
            // dpkg 1.21.22 of Debian 12, and 1.22 of Debian 13 and Ubuntu 24.04.
            "dpkg: error: dpkg frontend lock was locked by another process with pid 4711\n",
            "dpkg: error: dpkg database lock was locked by another process\n",
            "dpkg: error: dpkg frontend lock is locked by another process\n",
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4711 (apt-get)\n",
        ] {
            assert!(is_locked(printed), "{printed}");
        }
        assert!(!is_locked("Setting up postgresql (15+248) ...\n"));
    }
}
