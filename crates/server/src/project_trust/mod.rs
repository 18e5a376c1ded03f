//! Decides whether a project's data folder is this user's own, whether programs that its files name may run, and whether functions may
//! import modules from folders that they name.
//!
//! A project may be cloned or unpacked from a stranger's archive, with a data folder and a `config.toml` in it. What a data folder holds
//! is believed by every command: journals say which files to move, other files where to connect and what to delete. So a data folder
//! counts only if this user has made it on this machine: it holds a random id, and a record outside of all projects holds the same id
//! for its path. Everything else waits for `selvedge trust`. A folder that the process's environment names needs no record, because no
//! project can have brought it there.

mod data_folder;
mod git_index;
mod place;
mod records;

use std::path::Path;

use anyhow::{Result, bail};

use crate::config::{Config, NamedProgram};
use crate::output;
use data_folder::Standing;
pub(crate) use place::check_place;
use records::Records;

/// npm packages with programs that are run: Deno, its package for a platform, PostgreSQL.
const PACKAGES: [&str; 3] = ["deno", "@deno", "@embedded-postgres"];

/// Looks at the project's data folder, and makes it when it is missing and `creates` is true. Returns whether it has.
///
/// # Errors
/// When the folder was not made by this user on this machine, or a file of the project names programs that this user has not
/// allowed. The message says what to do.
pub(crate) fn check(config: &Config, creates: bool) -> Result<bool> {
    let records = Records::of_this_user();
    check_programs(config, &records)?;
    if config.selvedge.is_data_dir_of_process {
        return Ok(false);
    }
    let path = &config.selvedge.data_dir;
    match data_folder::inspect(path, &records)? {
        Standing::Own => return Ok(false),
        Standing::Missing if !creates => return Ok(false),
        Standing::Missing if config.is_data_dir_outside() => bail!(
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
            Ok(()) => data_folder::bind(path, &records, Vec::new()).map(|()| true),
            // The command itself reports a folder that cannot be made, if it needs one.
            Err(_) => Ok(false),
        },
        Standing::Moved(record) => {
            output::print_note(&format!(
                "{} was {} before: its data are used on",
                path.display(),
                record.path
            ));
            data_folder::bind(path, &records, record.programs)?;
            Ok(false)
        }
        Standing::Foreign(reason) => bail!(reason.describe(path)),
    }
}

/// Decides again about the programs and folders that files of the project name, when a running server reads them anew: a pull from
/// somebody's repository may have changed them.
///
/// # Errors
/// When they name something that this user has not allowed. The message says what to do.
pub(crate) fn check_again(config: &Config) -> Result<()> {
    check_programs(config, &Records::of_this_user())
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

/// Records that the data folder is this user's own, with the links in it, and that the programs may run that files of the
/// project name. Returns what is trusted now, one line each.
///
/// # Errors
/// When the folder belongs to another user, or nothing can be recorded.
pub(crate) fn trust(config: &Config) -> Result<Vec<String>> {
    let records = Records::of_this_user();
    let path = &config.selvedge.data_dir;
    let _lock = records.lock();
    match data_folder::inspect(path, &records)? {
        Standing::Missing => data_folder::create(path)?,
        Standing::Foreign(reason) if reason.outlasts_trust() => bail!(reason.describe(path)),
        _ => {}
    }
    let programs = list_programs(config);
    data_folder::bind(path, &records, programs.clone())?;
    let mut lines = vec![format!("the data in {}", path.display())];
    lines.extend(
        data_folder::list_links(path)?
            .into_iter()
            .map(|(name, target)| format!("the link {} to {target}", path.join(name).display())),
    );
    lines.extend(programs.iter().map(NamedProgram::describe));
    Ok(lines)
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

/// Programs that files of the project name, and those in its `node_modules` that came with the project and not from npm.
fn list_programs(config: &Config) -> Vec<NamedProgram> {
    let tracked = config
        .project
        .folder
        .ancestors()
        .flat_map(|folder| PACKAGES.map(|package| folder.join("node_modules").join(package)))
        .filter(|package| package.exists() && git_index::find_tracked(package).is_some())
        .map(|package| NamedProgram::of_packages(&package));
    config
        .selvedge
        .programs_of_files
        .iter()
        .cloned()
        .chain(tracked)
        .collect()
}

fn check_programs(config: &Config, records: &Records) -> Result<()> {
    let named = list_programs(config);
    let Some(first) = named.first() else {
        return Ok(());
    };
    if nix::unistd::geteuid().is_root() {
        bail!(
            "{} is named by a file of this project, and {}\n  name it yourself:  {}",
            first.describe(),
            first.effect(true),
            first.alternatives()
        );
    }
    let trusted = records
        .load(&config.selvedge.data_dir)
        .unwrap_or_default()
        .programs;
    match named.iter().find(|program| !trusted.contains(program)) {
        None => Ok(()),
        Some(program) => bail!(
            "{} is named by a file of this project, and {}\n  if you trust it:   selvedge trust\n  or name it \
             yourself:  {}",
            program.describe(),
            program.effect(false),
            program.alternatives()
        ),
    }
}
