//! What this machine is, and what it has already.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::answers::Answers;
use super::files::SMTP_PASSWORD;
use super::places::CREDENTIALS;
use super::record::Record;

/// Where Debian and Ubuntu have PostgreSQL's programs, a folder for each major version.
const POSTGRES_PROGRAMS: &str = "/usr/lib/postgresql";
const MAJORS: std::ops::RangeInclusive<u32> = 15..=18;
/// The oldest versions whose own PostgreSQL is new enough.
const DISTRIBUTIONS: [(&str, f32); 2] = [("debian", 12.0), ("ubuntu", 24.04)];
/// Is there while systemd runs the machine.
const SYSTEMD: &str = "/run/systemd/system";

/// What `setup` has found on the machine. The plan depends on it.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) has_postgresql: bool,
    pub(super) has_project: bool,
    pub(super) has_migrations: bool,
    /// Whether the password of this mail server and user was kept at an earlier run.
    pub(super) has_password: bool,
    /// Whether needrestart is installed, which restarts services when libraries are upgraded.
    pub(super) has_needrestart: bool,
    /// The folders above the data folder and the project that are missing, the outermost first.
    pub(super) missing: Vec<PathBuf>,
    /// This program.
    pub(super) program: PathBuf,
}

impl Machine {
    /// Refuses a machine where nothing can be set up: without systemd, or of a distribution without a PostgreSQL that is new enough.
    ///
    /// # Errors
    /// Why, and what to do instead.
    pub(super) fn check(&self) -> Result<()> {
        if !Path::new(SYSTEMD).is_dir() {
            bail!(
                "`selvedge setup` needs systemd, which does not run here\n  without it:  selvedge serve --data-dir DIR (docs/operations.md)"
            );
        }
        if self.has_postgresql || has_programs(Path::new(POSTGRES_PROGRAMS)) {
            return Ok(());
        }
        check_distribution(&fs::read_to_string("/etc/os-release").unwrap_or_default())
    }

    /// Examines the machine. PostgreSQL that `setup` installs is there only when its packages are: files come before that.
    ///
    /// # Errors
    /// When this program's own file cannot be found.
    pub(super) fn examine(answers: &Answers, record: &Record) -> Result<Self> {
        let project = &answers.project;
        let in_project = |name: &str| [project.join(name), project.join("supabase").join(name)];
        Ok(Self {
            has_postgresql: has_programs(Path::new(POSTGRES_PROGRAMS)) && !record.has_packages(),
            has_project: project.is_dir(),
            has_migrations: in_project("migrations").iter().any(|path| path.is_dir()),
            has_password: answers.mail_login() == record.answers.mail_login()
                && Path::new(CREDENTIALS).join(SMTP_PASSWORD).is_file(),
            has_needrestart: Path::new("/etc/needrestart").is_dir(),
            missing: list_missing(&[&answers.home, project]),
            program: std::env::current_exe().context("cannot find this program's own file")?,
        })
    }
}

fn has_programs(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    let mut versions = entries.flatten().filter_map(|entry| {
        let major: u32 = entry.file_name().to_str()?.parse().ok()?;
        let is_whole = ["postgres", "initdb"]
            .iter()
            .all(|program| entry.path().join("bin").join(program).is_file());
        is_whole.then_some(major)
    });
    versions.any(|major| MAJORS.contains(&major))
}

/// Refuses a distribution whose packages have no PostgreSQL that can be used. `release` is the text of os-release.
fn check_distribution(release: &str) -> Result<()> {
    let find = |name: &str| {
        let mut lines = release.lines().filter_map(|line| line.split_once('='));
        let (_, value) = lines.find(|(key, _)| *key == name)?;
        Some(value.trim_matches('"'))
    };
    let (id, version) = (find("ID").unwrap_or("linux"), find("VERSION_ID").unwrap_or("0"));
    let known = DISTRIBUTIONS.iter().find(|(known, _)| *known == id);
    match known {
        Some((_, least)) if version.parse::<f32>().is_ok_and(|version| version >= *least) => Ok(()),
        Some((_, least)) => bail!(
            "{id} {version} has a PostgreSQL that is too old, and {id} {least} the first that can be used\n  install PostgreSQL 15 to 18 from \
             https://apt.postgresql.org, and run this command again"
        ),
        None => bail!(
            "this is {id} {version}, of which `selvedge setup` does not know how to install PostgreSQL\n  install PostgreSQL 15 to 18 \
             into {POSTGRES_PROGRAMS}, and run this command again; or set the server up by hand: docs/operations.md"
        ),
    }
}

/// The folders above these that are missing.
fn list_missing(paths: &[&PathBuf]) -> Vec<PathBuf> {
    let above = paths.iter().flat_map(|path| path.ancestors().skip(1));
    let missing = above.filter(|folder| folder.symlink_metadata().is_err());
    // In their order by name a folder comes before what is in it.
    let missing: BTreeSet<PathBuf> = missing.map(Path::to_path_buf).collect();
    missing.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_008_distributions_with_an_old_postgresql_are_refused() {
        let check = |id: &str, version: &str| {
            check_distribution(&format!("NAME=x\nID={id}\nVERSION_ID=\"{version}\"\n"))
                .map_err(|error| error.to_string())
        };

        for (id, version) in [
            ("debian", "12"),
            ("debian", "13"),
            ("ubuntu", "24.04"),
            ("ubuntu", "26.04"),
        ] {
            assert_eq!(check(id, version), Ok(()));
        }
        for (id, version, reason) in [
            ("debian", "11", "too old"),
            ("ubuntu", "22.04", "apt.postgresql.org"),
            ("fedora", "43", "by hand"),
        ] {
            let error = check(id, version).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn prod_008_postgresql_is_found_where_all_its_programs_are() {
        let folder = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };

        make("14/bin/postgres");
        make("14/bin/initdb");
        make("16/bin/psql");
        let client_alone = has_programs(folder.path());
        make("16/bin/postgres");
        make("16/bin/initdb");

        assert!(!client_alone && has_programs(folder.path()));
        assert!(!has_programs(&folder.path().join("none")));
    }

    #[test]
    fn prod_008_folders_above_are_listed_from_the_outermost() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);

        let missing = list_missing(&[&at("a/b/home"), &at("a/app"), &at("other")]);

        assert_eq!(missing, [at("a"), at("a/b")]);
    }
}
