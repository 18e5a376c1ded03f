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
mod packages;
mod place;
mod program_stamp;
mod readable;
mod records;
mod trust;

use std::path::Path;

use anyhow::{Result, bail};
use selvedge_config::{Config, NamedPath};
use selvedge_project_files::{RefusedProgram, resolve};
use selvedge_terminal::{print_note, show_foreign_text};

use data_folder::Standing;
pub use holder::{find_other_holder, record_project, refuse_data_of_others};
use outside::{find_exposed_secret, list_outside};
use packages::list_doubtful_packages;
pub use packages::{CLI, Program};
pub use place::check_place;
use place::{ProjectPlace, find_place};
use program_stamp::stamp_program;
pub use readable::ReadableFiles;
pub use records::write_private_file;
use records::{Grants, Records};
pub use trust::{forget, list_trusted, trust};

/// What a command does with a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It shows, examines or stops what runs. Whoever does that must not have to trust what a pull has brought meanwhile.
    Look,
    /// It serves the project on a database that is not its own.
    Serve,
    /// It works with the project's own database as well.
    Work,
}

/// Looks at the project's data folder, and makes it when it is missing, unless the command only looks. Returns whether it has.
///
/// # Errors
/// When the folder was not made by this user on this machine, or a file of the project names programs that this user has not
/// allowed. The message says what to do.
pub fn check(config: &Config, usage: Use) -> Result<bool> {
    let records = Records::of_this_user();
    check_named(config, &records, usage)?;
    let creates = usage != Use::Look;
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
            print_note(&format!(
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
pub fn check_outside(config: &Config) -> Result<()> {
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
pub fn check_again(config: &Config) -> Result<()> {
    check_named(config, &Records::of_this_user(), Use::Serve)
}

/// Whether migrations and other files of the project, by the names that commands read, lead nowhere out of it, so that they may be read although
/// nobody has trusted the project.
pub fn has_own_files_alone(config: &Config) -> bool {
    list_outside(config).iter().all(|named| !named.is_link())
}

/// What may not run in the place of a program: what a file of the project names, and packages that may have come with it, which this user has not
/// allowed. Whatever would run one says so instead.
pub fn list_refused(config: &Config, program: Program) -> Vec<RefusedProgram> {
    let records = Records::of_this_user();
    let trusted = list_granted(config, &records);
    let is_root = nix::unistd::geteuid().is_root();
    let mut packages = list_doubtful_packages(config);
    packages.retain(|package| package.program == program);
    let packages = packages.into_iter().map(|package| {
        let (as_root, alternatives) = (is_root && package.is_replaceable(), package.alternatives());
        (
            with_stamp_in_project(config, package.named),
            as_root,
            alternatives,
        )
    });
    let mut named = list_programs(config);
    named.retain(|named| match program {
        Program::Postgresql => named.is_postgresql(),
        Program::Deno => named.is_deno(),
        Program::Cli => false,
    });
    let named = named.into_iter().map(|named| {
        let alternatives = name_alternative(&named);
        (named, is_root, alternatives)
    });
    packages
        .chain(named)
        .filter(|(named, as_root, _)| *as_root || !trusted.contains(named))
        .map(|(named, as_root, alternatives)| {
            let trust = if as_root {
                ""
            } else {
                "if you trust it:  selvedge trust\n  or "
            };
            let explained = show_foreign_text(&named.explain(as_root));
            let alternatives = show_foreign_text(&alternatives);
            RefusedProgram::new(named.path(), format!("{explained}\n  {trust}{alternatives}"))
        })
        .collect()
}

fn name_alternative(named: &NamedPath) -> String {
    format!("name it yourself:  {}", named.alternatives())
}

/// Removes a data folder that was made for a command which has put nothing into it, such as a first start that was refused.
pub fn remove_unused(data_dir: &Path) {
    data_folder::remove_if_unused(data_dir);
}

/// Whether `reset` may use the folder, or has to delete it unread.
///
/// # Errors
/// When the folder cannot be looked at.
pub fn is_foreign(config: &Config) -> Result<bool> {
    let standing = data_folder::inspect(&config.selvedge.data_dir, &Records::of_this_user())?;
    Ok(!config.selvedge.is_data_dir_of_process && matches!(standing, Standing::Foreign(_)))
}

/// Deletes a data folder that is not this user's own, without reading anything in it. A link is removed and not followed.
///
/// # Errors
/// When it may be something else than the data of this project, a process holds the folder's lock, or a file cannot be deleted.
pub fn delete_foreign(config: &Config) -> Result<()> {
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

/// What a user is asked about: programs that files of the project name, those in its `node_modules` that may have come with it, and paths that
/// lead out of it.
fn list_named(config: &Config) -> Vec<NamedPath> {
    let packages = list_doubtful_packages(config).into_iter();
    let packages = packages.map(|package| with_stamp_in_project(config, package.named));
    let programs = list_programs(config).into_iter();
    programs.chain(packages).chain(list_outside(config)).collect()
}

/// The programs that files of the project name.
fn list_programs(config: &Config) -> Vec<NamedPath> {
    let named = config.selvedge.paths_of_files.iter();
    let programs = named.filter(|named| named.is_program()).cloned();
    programs
        .map(|program| with_stamp_in_project(config, program))
        .collect()
}

/// Outside of the repository the machine's own updates replace programs; inside a change of the project does.
fn with_stamp_in_project(config: &Config, program: NamedPath) -> NamedPath {
    match ProjectPlace::of(&config.project).leads_out(program.path()) {
        None if !program.is_module_folder() => {
            let stamp = stamp_program(program.path());
            program.with_stamp(stamp)
        }
        _ => program,
    }
}

/// Whether a command may run a program that a file of the project names. Whatever else would run it refuses it then
/// ([`list_refused`]).
fn may_run(config: &Config, usage: Use, program: &NamedPath) -> bool {
    match program {
        _ if usage == Use::Look => false,
        named if named.is_postgresql() => usage == Use::Work && config.selvedge.database_url.is_none(),
        named if named.is_deno() || named.is_module_folder() => config.functions.enabled,
        _ => true,
    }
}

fn check_named(config: &Config, records: &Records, usage: Use) -> Result<()> {
    if usage == Use::Look {
        return Ok(());
    }
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
    let mut named = list_programs(config);
    named.retain(|program| may_run(config, usage, program));
    if nix::unistd::geteuid().is_root()
        && let Some(program) = named.first()
    {
        bail!(
            "{}\n  {}",
            show_foreign_text(&program.explain(true)),
            name_alternative(program)
        );
    }
    named.extend(list_outside(config));
    check_trusted(config, records, &named)
}

/// What this user has allowed the project.
fn list_granted(config: &Config, records: &Records) -> Vec<NamedPath> {
    let data = &config.selvedge.data_dir;
    let record = records
        .load(data)
        .filter(|record| data_folder::is_of_record(data, record));
    let record = record.unwrap_or_default();
    record.trusted_by(&config.project.folder).to_vec()
}

fn check_trusted(config: &Config, records: &Records, named: &[NamedPath]) -> Result<()> {
    if named.is_empty() {
        return Ok(());
    }
    let trusted = list_granted(config, records);
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
