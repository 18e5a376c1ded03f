//! Which project a data folder is of that a variable of the process names. Such a folder needs no trust, but a variable stays in a shell
//! when its user goes on to another project.

use std::io::Read as _;

use anyhow::{Context, Result, bail};
use selvedge_postgres::cluster::open_own_file;

use crate::config::Config;
use crate::output;
use crate::private_file::write_private_file;

/// The file with the project's id and its folder, a line each.
const FILE: &str = "project";

/// Records the project in a data folder that has its database now, unless one is recorded already. Where the file cannot be written the
/// user is told, and the project runs all the same.
pub(crate) fn record_project(config: &Config) {
    if !config.selvedge.is_data_dir_of_process || read_project(config).is_some() {
        return;
    }
    if let Err(error) = write_project(config) {
        output::print_note(&format!("{error:#}"));
    }
}

/// Notes the project, whatever was noted.
pub(super) fn write_project(config: &Config) -> Result<()> {
    let path = config.selvedge.data_dir.join(FILE);
    let project = &config.project;
    let text = format!("{}\n{}", project.id, project.folder.display());
    write_private_file(&path, &text).with_context(|| format!("cannot write {}", path.display()))
}

/// Refuses a command that changes data of another project. A project that has moved keeps its id, and one whose id has changed its folder.
///
/// # Errors
/// When the data folder is noted as another project's. The message says what to do.
pub(crate) fn refuse_data_of_others(config: &Config) -> Result<()> {
    let Some((id, folder)) = read_project(config).filter(|_| config.selvedge.is_data_dir_of_process) else {
        return Ok(());
    };
    let project = &config.project;
    if id == project.id || folder == project.folder.display().to_string() {
        return Ok(());
    }
    bail!(
        "{}, which SELVEDGE_DATA_DIR names, has the data of {id} in {folder}. Nothing was changed\n  to work on that project:             \
         --project {folder}\n  if the data are this project's now:  selvedge trust",
        config.selvedge.data_dir.display()
    )
}

fn read_project(config: &Config) -> Option<(String, String)> {
    let mut text = String::new();
    let file = open_own_file(&config.selvedge.data_dir.join(FILE), false).ok()?;
    file.take(8192).read_to_string(&mut text).ok()?;
    let (id, folder) = text.trim_end().split_once('\n')?;
    Some((id.to_owned(), folder.to_owned()))
}
