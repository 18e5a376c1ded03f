//! Programs in packages of npm: which of them may have come with the project, and not from npm.
//!
//! They are asked about where they would run, and not by each command: a server on another machine's database needs no PostgreSQL, and a
//! machine that has one takes that.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use selvedge_postgres::cluster::ClusterConfig;
use selvedge_project_files::{find_modules_folder, find_packages, is_in_git_repository};

use super::git_index;
use crate::config::{Config, NamedPath};

/// A program that a package may have, which this program would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Postgresql,
    /// It runs functions.
    Deno,
    /// The Supabase CLI, which compares databases.
    Cli,
}

/// A package whose program may have come with the project.
pub(super) struct Package {
    pub(super) named: NamedPath,
    pub(super) program: Program,
    doubt: Doubt,
}

/// Why nobody can say that npm has installed a package.
enum Doubt {
    /// Version control tracks this file of it.
    Tracked(String),
    /// Another user owns it.
    OtherOwner,
    /// No repository could say it.
    NoRepository,
    /// The repository does not track what says which packages there are.
    ManifestUntracked(PathBuf),
    /// Git has not looked at the repository on this machine.
    UnknownIndex(PathBuf),
}

impl Package {
    /// Whether another program can be named in its place, so that root never needs this one.
    pub(super) fn is_replaceable(&self) -> bool {
        self.program != Program::Cli
    }

    /// How its user gets on without trusting it.
    pub(super) fn alternatives(&self) -> String {
        let program = match self.program {
            Program::Postgresql => "name it, or another one:  SELVEDGE_PG_BIN=DIR",
            Program::Deno => "name it, or another one:  SELVEDGE_FUNCTIONS_DENO=FILE",
            Program::Cli => "call it yourself",
        };
        let advice = match &self.doubt {
            Doubt::Tracked(file) => format!("\n  Version control tracks {file}"),
            Doubt::OtherOwner => "\n  Another user owns it".to_owned(),
            Doubt::NoRepository => {
                "\n  It is in no Git repository that could say that npm has installed it".to_owned()
            }
            Doubt::ManifestUntracked(file) => format!(
                "\n  What npm has installed is not asked about in a repository that tracks the list of it:  git add {}",
                file.display()
            ),
            Doubt::UnknownIndex(folder) => format!(
                "\n  What npm has installed is not asked about in a repository at which Git has looked on this machine:  git -C {} status",
                folder.display()
            ),
        };
        format!("{program}{advice}")
    }
}

/// The packages with programs that may have come with the project. None of those in whose place a program is named.
pub(super) fn list_doubtful_packages(config: &Config) -> Vec<Package> {
    let project = &config.project.folder;
    let named = [
        (Program::Postgresql, config.selvedge.pg_bin.is_some()),
        (Program::Deno, config.selvedge.functions.deno.is_some()),
        (Program::Cli, false),
    ];
    let wanted = named.into_iter().filter(|(_, is_named)| !is_named);
    let packages = wanted.flat_map(|(program, _)| {
        let packages = match program {
            Program::Postgresql => ClusterConfig::for_project(project).list_packages(),
            Program::Deno => find_packages(project, &["deno", "@deno"]),
            Program::Cli => find_packages(project, &["supabase"]),
        };
        packages.into_iter().map(move |package| (program, package))
    });
    packages
        .filter_map(|(program, package)| {
            let doubt = find_doubt(config, &package)?;
            let named = NamedPath::of_packages(&package);
            Some(Package {
                named,
                program,
                doubt,
            })
        })
        .collect()
}

/// `None` for a package that npm has installed: a repository tracks the list of packages and not this one. Who runs this program from the same
/// `node_modules` runs what is there anyway.
fn find_doubt(config: &Config, package: &Path) -> Option<Doubt> {
    if let Some(file) = git_index::find_tracked(package) {
        return Some(Doubt::Tracked(file));
    }
    let Ok(real) = package.canonicalize() else {
        return Some(Doubt::NoRepository);
    };
    let modules = find_modules_folder(&real);
    let program = std::env::current_exe().ok();
    if matches!((modules, program), (Some(modules), Some(program)) if program.starts_with(modules)) {
        return None;
    }
    let owners = [0, geteuid().as_raw()];
    if !real.metadata().is_ok_and(|meta| owners.contains(&meta.uid())) {
        return Some(Doubt::OtherOwner);
    }
    // Not a repository that somebody else has put above, or in which an archive was unpacked: it tracks what says which packages there are.
    // Asked of the folder beside the packages, which root may have installed in a repository of somebody else.
    let installed_in = modules.and_then(Path::parent).unwrap_or(&real);
    if !is_in_git_repository(installed_in) {
        return Some(Doubt::NoRepository);
    }
    let manifest = installed_in.join("package.json");
    let mut manifests = [manifest.clone()].into_iter().chain(config.project.file.clone());
    if !manifests.any(|file| git_index::find_tracked(&file).is_some()) {
        return Some(Doubt::ManifestUntracked(manifest));
    }
    let is_untracked = git_index::is_untracked(&real);
    (!is_untracked).then(|| Doubt::UnknownIndex(installed_in.to_owned()))
}
