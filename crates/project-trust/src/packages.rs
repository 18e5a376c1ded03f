//! Programs in packages of npm: which of them may have come with the project, and not from npm.
//!
//! They are asked about where they would run, and not by each command: a server on another machine's database needs no PostgreSQL, and a
//! machine that has one takes that.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use selvedge_config::{Config, NamedPath};
use selvedge_functions::deno_package_names;
use selvedge_postgres::cluster::ClusterConfig;
use selvedge_project_files::{find_modules_folder, find_packages, is_in_git_repository, resolve};

use super::git_index;

/// The package of the Supabase CLI.
pub const CLI: &str = "supabase";

/// A program that a package may have, which this program would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
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
            Program::Deno => find_named(project, &deno_package_names()),
            Program::Cli => find_named(project, &cli_package_names()),
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

fn find_named(project: &Path, names: &[String]) -> Vec<PathBuf> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    find_packages(project, &names)
}

/// The package of the Supabase CLI, and those with the program that it starts.
fn cli_package_names() -> [String; 3] {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let program = format!("@supabase/cli-{system}-{architecture}");
    [CLI.to_owned(), format!("{program}-musl"), program]
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
    // The settings of a project say which packages there are in its folder and above it, and nothing about an archive elsewhere in the repository.
    let is_above = resolve(&config.project.folder).starts_with(installed_in);
    let settings = config.project.file.clone().filter(|_| is_above);
    let mut manifests = [manifest.clone()].into_iter().chain(settings);
    if !manifests.any(|file| git_index::is_tracked_beside(&file, &real)) {
        return Some(Doubt::ManifestUntracked(manifest));
    }
    let is_untracked = git_index::is_untracked(&real);
    (!is_untracked).then(|| Doubt::UnknownIndex(installed_in.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use selvedge_config::{Environment, Flags, Project};

    use super::*;

    /// A clone with a project that Git tracks, and two places in which npm's packages may be.
    #[test]
    fn gw_109_a_tracked_project_vouches_for_packages_above_it_alone() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let packages =
            ["node_modules", "third_party/x/node_modules"].map(|name| root.join(name).join("deno"));
        for package in &packages {
            std::fs::create_dir_all(package).unwrap();
        }
        std::fs::create_dir(root.join("supabase")).unwrap();
        std::fs::write(root.join("supabase/config.toml"), "project_id = \"x\"\n").unwrap();
        for arguments in [["init", "--quiet"], ["add", "supabase"]] {
            let status = Command::new("git").arg("-C").arg(&root).args(arguments).status();
            assert!(status.unwrap().success());
        }
        let project = Project::find(Some(&root.join("supabase")), &root).unwrap();
        let environment: Environment = [("A", "b")].into_iter().collect();
        let config = Config::load_project(project, environment, &Flags::default())
            .unwrap()
            .config;

        let [beside, unpacked] = packages.each_ref().map(|package| find_doubt(&config, package));

        assert!(beside.is_none());
        assert!(
            matches!(unpacked, Some(Doubt::ManifestUntracked(file)) if file.starts_with(root.join("third_party")))
        );
    }

    /// What is searched for and what is asked about is one list.
    #[test]
    fn gw_109_what_is_run_of_a_package_is_asked_about() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let [platform, deno] = deno_package_names();
        let [cli, _, program] = cli_package_names();
        for name in [&platform, &deno, &cli, &program] {
            std::fs::create_dir_all(root.join("node_modules").join(name)).unwrap();
        }
        let project = Project::find(Some(&root), &root).unwrap();
        let environment: Environment = [("A", "b")].into_iter().collect();
        let config = Config::load_project(project, environment, &Flags::default())
            .unwrap()
            .config;

        let found = list_doubtful_packages(&config);

        let found: Vec<_> = found
            .iter()
            .filter(|package| package.named.path().starts_with(&root))
            .collect();
        let is_of = |wanted: Program| found.iter().filter(|package| package.program == wanted).count();
        assert_eq!((is_of(Program::Deno), is_of(Program::Cli)), (2, 2));
        assert!(
            found
                .iter()
                .all(|package| matches!(package.doubt, Doubt::NoRepository))
        );
    }
}
