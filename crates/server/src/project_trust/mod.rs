//! Decides whether a project's data folder is this user's own, whether programs that its files name may run, and whether what they name
//! or link to outside of the project may be read.
//!
//! A project may be cloned or unpacked from a stranger's archive, with a data folder and a `config.toml` in it. What a data folder holds
//! is believed by every command: journals say which files to move, other files where to connect and what to delete. So a data folder
//! counts only if this user has made it on this machine: it holds a random id, and a record outside of all projects holds the same id
//! for its path. Everything else waits for `selvedge trust`. A folder that the process's environment names needs no record, because no
//! project can have brought it there.

mod data_folder;
mod git_index;
mod holder;
mod outside;
mod place;
mod program_stamp;
mod readable;
mod records;
mod trust;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use selvedge_project_files::{is_in_git_repository, resolve};

use crate::config::{Config, NamedPath};
use crate::output::{self, show_foreign_text};
use data_folder::Standing;
pub(crate) use holder::{record_project, refuse_data_of_others};
use outside::{find_exposed_secret, list_outside};
pub(crate) use place::check_place;
use place::{ProjectPlace, find_place};
use program_stamp::stamp_program;
pub(crate) use readable::ReadableFiles;
use records::{Grants, Records};
pub(crate) use trust::{forget, list_trusted, trust};

/// npm packages of Deno: itself, and that for a platform.
const DENO_PACKAGES: [&str; 2] = ["deno", "@deno"];
/// Those of PostgreSQL.
const POSTGRESQL_PACKAGES: &str = "@embedded-postgres";

/// Looks at the project's data folder, and makes it when it is missing and `creates` is true. Returns whether it has.
///
/// # Errors
/// When the folder was not made by this user on this machine, or a file of the project names programs that this user has not
/// allowed. The message says what to do.
pub(crate) fn check(config: &Config, creates: bool) -> Result<bool> {
    let records = Records::of_this_user();
    match creates {
        true => check_named(config, &records)?,
        // Whoever stops a server must not have to trust what a pull has brought meanwhile.
        false => check_programs(config, &records)?,
    }
    if config.selvedge.is_data_dir_of_process {
        return Ok(false);
    }
    let path = &config.selvedge.data_dir;
    let record = records.load(path);
    // The data of another project of the same user are this user's own, too.
    let is_of_others = names_data_outside(config)
        && !record.is_some_and(|record| record.grants.projects.contains(&config.project.folder));
    match data_folder::inspect(path, &records)? {
        Standing::Missing if !creates => return Ok(false),
        Standing::Own if !is_of_others => return Ok(false),
        Standing::Own | Standing::Missing | Standing::Moved(_) if is_of_others => bail!(
            "selvedge.data_dir of a file of this project is {}, outside of the project\n  if that is what you want:  selvedge trust",
            path.display()
        ),
        _ => {}
    }
    // Another process may be making the folder at this moment.
    let _lock = records.lock();
    match data_folder::inspect(path, &records)? {
        Standing::Own => Ok(false),
        Standing::Missing if !creates => Ok(false),
        Standing::Missing => match data_folder::create(path) {
            Ok(()) => data_folder::bind(path, &records, Grants::default()).map(|()| true),
            // The command itself reports a folder that cannot be made, if it needs one.
            Err(_) => Ok(false),
        },
        Standing::Moved(record) => {
            output::print_note(&format!(
                "{} was {} before: its data are used on",
                path.display(),
                record.path
            ));
            let grants = record.grants_after_move(&config.project.folder);
            data_folder::bind(path, &records, grants)?;
            Ok(false)
        }
        Standing::Foreign(reason) => bail!(reason.describe(path)),
    }
}

/// Decides about the paths outside of the project that its files name or link to, for commands that neither run programs nor read a data
/// folder.
///
/// # Errors
/// When this user has not allowed one. The message says what to do.
pub(crate) fn check_outside(config: &Config) -> Result<()> {
    check_trusted(config, &Records::of_this_user(), &list_outside(config))
}

/// Whether a file of the project names a data folder outside of the project. A default folder that is a link is asked about as a link.
fn names_data_outside(config: &Config) -> bool {
    let data = &config.selvedge.data_dir;
    let repository = resolve(&config.project.repository);
    *data != config.project.default_data_dir()
        && !find_place(data).is_some_and(|data| data.starts_with(&repository))
}

/// Decides again about the programs and folders that files of the project name, when a running server reads them anew: a pull from
/// somebody's repository may have changed them.
///
/// # Errors
/// When they name something that this user has not allowed. The message says what to do.
pub(crate) fn check_again(config: &Config) -> Result<()> {
    check_named(config, &Records::of_this_user())
}

/// Removes a data folder that was made for a command which has put nothing into it, such as a first start that was refused.
pub(crate) fn remove_unused(data_dir: &Path) {
    data_folder::remove_if_unused(data_dir);
}

/// Whether `reset` may use the folder, or has to delete it unread.
///
/// # Errors
/// When the folder cannot be looked at.
pub(crate) fn is_foreign(config: &Config) -> Result<bool> {
    let standing = data_folder::inspect(&config.selvedge.data_dir, &Records::of_this_user())?;
    Ok(!config.selvedge.is_data_dir_of_process && matches!(standing, Standing::Foreign(_)))
}

/// Deletes a data folder that is not this user's own, without reading anything in it. A link is removed and not followed.
///
/// # Errors
/// When it may be something else than the data of this project, a process holds the folder's lock, or a file cannot be deleted.
pub(crate) fn delete_foreign(config: &Config) -> Result<()> {
    let path = &config.selvedge.data_dir;
    if !config.is_data_dir_deletable() {
        bail!(
            "selvedge.data_dir of a file of this project is {}, which is not a folder for data in the project: nothing was deleted\n  \
             if it is not what you want:       take data_dir out of that file\n  if it is the data folder you made:  selvedge trust",
            path.display()
        );
    }
    match data_folder::inspect(path, &Records::of_this_user())? {
        Standing::Foreign(reason) if reason.is_other_owner() => bail!(reason.describe(path)),
        _ => {}
    }
    data_folder::delete_unread(&config.selvedge.data_dir)
}

/// What a user is asked about: programs that files of the project name, those in its `node_modules` that came with the project and not
/// from npm, and paths that lead out of it.
fn list_named(config: &Config) -> Vec<NamedPath> {
    let mut named = list_programs(config);
    named.extend(list_outside(config));
    named
}

/// The programs alone.
fn list_programs(config: &Config) -> Vec<NamedPath> {
    let tracked = list_packages(config)
        .into_iter()
        .filter(|package| may_have_come_along(config, package))
        .map(|package| NamedPath::of_packages(&package));
    let named = config.selvedge.paths_of_files.iter();
    let place = ProjectPlace::of(&config.project);
    // Outside of the repository the machine's own updates replace programs; inside a change of the project does.
    let stamped = |program: NamedPath| match place.leads_out(program.path()) {
        None if !program.is_module_folder() => {
            let stamp = stamp_program(program.path());
            program.with_stamp(stamp)
        }
        _ => program,
    };
    named
        .filter(|named| named.is_program())
        .cloned()
        .chain(tracked)
        .map(stamped)
        .collect()
}

/// The packages whose programs would run: those of `node_modules` from the project's folder upward, and for PostgreSQL also from the
/// current one. None of those in whose place a program is named.
fn list_packages(config: &Config) -> BTreeSet<PathBuf> {
    let named = &config.selvedge;
    let current = std::env::current_dir().unwrap_or_default();
    let deno = DENO_PACKAGES.map(|package| (package, named.functions.deno.is_none(), false));
    let postgresql = (POSTGRESQL_PACKAGES, named.pg_bin.is_none(), true);
    let searched = deno
        .into_iter()
        .chain([postgresql])
        .filter(|(_, is_searched, _)| *is_searched);
    searched
        .flat_map(|(package, _, from_current)| {
            let further = current.ancestors().filter(move |_| from_current);
            let folders = config.project.folder.ancestors().chain(further);
            folders.map(move |folder| folder.join("node_modules").join(package))
        })
        .filter(|package| package.exists())
        .collect()
}

/// Whether a package may have come with the project, and not from npm: version control tracks it, or there is none that could say. Who runs
/// this program from the same `node_modules` runs what is there anyway.
fn may_have_come_along(config: &Config, package: &Path) -> bool {
    if git_index::find_tracked(package).is_some() {
        return true;
    }
    let Ok(real) = package.canonicalize() else {
        return true;
    };
    // The outermost one: some package managers keep each package in a folder of its own there.
    let packages = real
        .ancestors()
        .filter(|folder| folder.ends_with("node_modules"))
        .last();
    // Not a repository that somebody else has put above, that holds a whole home, or in which an archive was unpacked: it tracks what says
    // which packages there are. Asked of the folder beside the packages, which root may have installed in a repository of somebody else.
    let installed_in = packages.and_then(Path::parent);
    let is_in_repository = is_in_git_repository(installed_in.unwrap_or(&real));
    let manifest = installed_in.map(|folder| folder.join("package.json"));
    let mut manifests = manifest.into_iter().chain(config.project.file.clone());
    let is_of_repository = manifests.any(|file| git_index::find_tracked(&file).is_some());
    if is_in_repository && is_of_repository && git_index::is_untracked(&real) {
        return false;
    }
    let program: Option<PathBuf> = std::env::current_exe().ok();
    !matches!((packages, program), (Some(packages), Some(program)) if program.starts_with(packages))
}

fn check_named(config: &Config, records: &Records) -> Result<()> {
    if let Some((named, secret)) = find_exposed_secret(config) {
        let what = match secret {
            Some(secret) => format!("{}, which holds passwords, keys or data", secret.display()),
            None => "whatever will be where its link or its .. leads, which is not there yet".to_owned(),
        };
        bail!(
            "{} is named by a file of this project, and would hand out {what}\n  name a folder or file that is apart from it",
            show_foreign_text(&named.describe()),
        );
    }
    check_programs(config, records)?;
    check_trusted(config, records, &list_named(config))
}

/// Refuses programs that the user has not trusted.
fn check_programs(config: &Config, records: &Records) -> Result<()> {
    let named = list_programs(config);
    if nix::unistd::geteuid().is_root()
        && let Some(program) = named.iter().find(|named| named.is_program())
    {
        bail!(
            "{}\n  name it yourself:  {}",
            program.explain(true),
            program.alternatives()
        );
    }
    check_trusted(config, records, &named)
}

fn check_trusted(config: &Config, records: &Records, named: &[NamedPath]) -> Result<()> {
    if named.is_empty() {
        return Ok(());
    }
    let data = &config.selvedge.data_dir;
    let record = records
        .load(data)
        .filter(|record| data_folder::is_of_record(data, record));
    let record = record.unwrap_or_default();
    let trusted = record.trusted_by(&config.project.folder);
    let mut untrusted = named.iter().filter(|named| !trusted.contains(named));
    let Some(first) = untrusted.next() else {
        return Ok(());
    };
    let others: String = untrusted
        .map(|named| {
            format!(
                "\n  also:                {}",
                show_foreign_text(&named.describe())
            )
        })
        .collect();
    bail!(
        "{}{others}\n  if you trust it:   selvedge trust\n  or name it yourself:  {}",
        show_foreign_text(&first.explain(false)),
        first.alternatives()
    )
}
