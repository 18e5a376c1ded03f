//! The folders of a PostgreSQL installation.
//!
//! PostgreSQL knows its folders from the build, and finds them relative to the running program: with
//! `/usr/lib/postgresql/15/bin` and `/usr/share/postgresql/15` built in, a program in `/x/lib/postgresql/15/bin` uses
//! `/x/share/postgresql/15`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Where an installation has its parts. All paths are absolute and without symbolic links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Installation {
    /// Folder of the programs.
    pub(super) bin: PathBuf,
    /// `extension/`, time zones, text search data and the files from which `initdb` works.
    pub(super) share: PathBuf,
    /// Loadable modules (`$libdir`).
    pub(super) modules: PathBuf,
    /// The deepest folder that holds all of the above.
    pub(super) root: PathBuf,
}

impl Installation {
    /// Finds the folders that belong to the programs in `bin`; `None` for a layout that is not known.
    pub(super) fn find(bin: &Path, major_version: u32) -> Option<Self> {
        // The program itself may be a link, such as those in /usr/local/bin; PostgreSQL follows it, too.
        let bin = bin.join("postgres").canonicalize().ok()?.parent()?.to_owned();
        let share = first_that_holds("extension/plpgsql.control", share_guesses(&bin, major_version))
            .or_else(|| ask_pg_config(&bin, "--sharedir"))?;
        let modules = ["plpgsql.so", "plpgsql.dylib"]
            .iter()
            .find_map(|module| first_that_holds(module, module_guesses(&bin)))
            .or_else(|| ask_pg_config(&bin, "--pkglibdir"))?;
        let root = bin
            .ancestors()
            .find(|folder| share.starts_with(folder) && modules.starts_with(folder))?
            .to_owned();
        Some(Self {
            bin,
            share,
            modules,
            root,
        })
    }

    /// The path that `folder`, one of the installation's, has in a copy of the installation at `root`.
    pub(super) fn path_in(&self, root: &Path, folder: &Path) -> PathBuf {
        root.join(folder.strip_prefix(&self.root).unwrap_or(folder))
    }
}

/// A folder that `pg_config` prints. Packages for clients contain that program, and some for servers do not.
fn ask_pg_config(bin: &Path, option: &str) -> Option<PathBuf> {
    let output = Command::new(bin.join("pg_config")).arg(option).output().ok()?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Path::new(&folder).canonicalize().ok()
}

/// Where npm's package, source builds, Homebrew and Debian have the shared files of the programs in `bin`.
fn share_guesses(bin: &Path, major_version: u32) -> Vec<PathBuf> {
    let versioned = format!("share/postgresql/{major_version}");
    let mut guesses = vec![bin.join("../share/postgresql"), bin.join("../share")];
    guesses.extend(bin.ancestors().skip(1).map(|folder| folder.join(&versioned)));
    guesses
}

fn module_guesses(bin: &Path) -> Vec<PathBuf> {
    vec![bin.join("../lib/postgresql"), bin.join("../lib")]
}

fn first_that_holds(file: &str, guesses: Vec<PathBuf>) -> Option<PathBuf> {
    guesses
        .into_iter()
        .find(|folder| folder.join(file).is_file())
        .and_then(|folder| folder.canonicalize().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installation(files: &[&str], bin: &str) -> (tempfile::TempDir, Option<Installation>) {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("below the folder")).expect("created");
            std::fs::write(path, "").expect("written");
        }
        let found = Installation::find(&folder.path().join(bin), 15);
        (folder, found)
    }

    #[test]
    fn gw_028_finds_the_folders_of_debian_and_of_npm() {
        let (folder, debian) = installation(
            &[
                "usr/lib/postgresql/15/bin/postgres",
                "usr/lib/postgresql/15/lib/plpgsql.so",
                "usr/share/postgresql/15/extension/plpgsql.control",
            ],
            "usr/lib/postgresql/15/bin",
        );
        let debian = debian.expect("known");
        assert!(debian.root.ends_with("usr"));
        assert_eq!(
            debian.path_in(Path::new("/x"), &debian.share),
            Path::new("/x/share/postgresql/15")
        );
        drop(folder);

        let (_folder, npm) = installation(
            &[
                "native/bin/postgres",
                "native/lib/postgresql/plpgsql.so",
                "native/share/postgresql/extension/plpgsql.control",
            ],
            "native/bin",
        );
        let npm = npm.expect("known");
        assert!(npm.root.ends_with("native"));
        assert_eq!(
            npm.path_in(Path::new("/x"), &npm.modules),
            Path::new("/x/lib/postgresql")
        );
    }

    #[test]
    fn gw_028_reports_no_installation_where_shared_files_are_missing() {
        let (_folder, found) = installation(&["bin/postgres", "lib/plpgsql.so"], "bin");

        assert_eq!(found, None);
    }
}
