//! Which program a unit runs. One that was replaced at its path goes on until the unit is restarted.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Result, bail};

use super::places::PROGRAM;
use super::process::Command;

/// Whether a unit runs another program than is at its place now, whoever has put it there.
///
/// # Errors
/// When systemd cannot be asked.
pub(super) fn runs_old_program(unit: &str) -> Result<bool> {
    let words = ["systemctl", "show", "--property=MainPID", "--value", unit];
    let shown = Command::new(&words).print()?;
    let process = shown.trim().parse().unwrap_or(0);
    Ok(process != 0 && runs_other_file(process, Path::new(PROGRAM)))
}

/// Whether a process runs another file than is at a path. Its times say nothing, as `tar` and `cp -p` keep those of the archive.
fn runs_other_file(process: u32, path: &Path) -> bool {
    let identify = |path: &Path| path.metadata().map(|meta| (meta.dev(), meta.ino()));
    let running = Path::new("/proc").join(process.to_string()).join("exe");
    match (identify(&running), identify(path)) {
        (Ok(running), Ok(installed)) => running != installed,
        _ => false,
    }
}

/// Refuses to put this program in the place of a newer one, whose database it would refuse.
///
/// # Errors
/// When the one that is installed is newer.
pub(super) fn refuse_older_program(program: &Path) -> Result<()> {
    if program == Path::new(PROGRAM) || !Path::new(PROGRAM).is_file() {
        return Ok(());
    }
    let printed = Command::new(&[PROGRAM, "--version"]).print()?;
    check_version(&printed, env!("CARGO_PKG_VERSION"))
}

fn check_version(printed: &str, own: &str) -> Result<()> {
    let installed = printed.split_whitespace().find_map(parse_version);
    if installed > parse_version(own) {
        bail!(
            "{PROGRAM} is newer ({}) than this program ({own}), which refuses the database of a newer one. Nothing was changed\n  to set up \
             with that one:  {PROGRAM} setup",
            printed.trim()
        );
    }
    Ok(())
}

/// The numbers of a version such as 1.2.3, or of 1.2.3-rc.1.
fn parse_version(text: &str) -> Option<[u32; 3]> {
    let numbers = text.split(['-', '+']).next()?;
    let mut numbers = numbers.split('.').map(|number| number.parse().ok());
    let version = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_008_a_program_that_was_replaced_is_known_by_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("selvedge");
        let own = std::env::current_exe().unwrap();
        std::fs::copy(&own, &copy).unwrap();

        assert!(!runs_other_file(std::process::id(), &own));
        assert!(runs_other_file(std::process::id(), &copy));
        assert!(!runs_other_file(std::process::id(), &folder.path().join("none")));
    }

    #[test]
    fn prod_008_an_older_program_replaces_no_newer_one() {
        for newer in ["selvedge 0.1.1", "selvedge 0.2.0-rc.1", "selvedge 1.0.0"] {
            let refused = check_version(newer, "0.1.0").unwrap_err().to_string();
            assert!(refused.contains("is newer"), "{refused}");
        }
        for other in [
            "selvedge 0.1.0",
            "selvedge 0.0.9",
            "",
            "not found",
            "selvedge 1.2",
        ] {
            assert!(check_version(other, "0.1.0").is_ok(), "{other}");
        }
    }
}
