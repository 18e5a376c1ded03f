//! Which project a data folder is of that a variable of the process names. Such a folder needs no trust, but a variable stays in a shell
//! when its user goes on to another project.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use selvedge_postgres::cluster::open_own_file;
use selvedge_project_files::resolve;

use crate::config::Config;
use crate::output::{self, show_foreign_text};
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

/// Refuses a command that changes data of another project. The id, which a file of the project chooses, proves nothing while the noted
/// folder is there; a project that has moved keeps its id, and one whose id has changed its folder.
///
/// # Errors
/// When the data folder is noted as another project's. The message says what to do.
pub(crate) fn refuse_data_of_others(config: &Config) -> Result<()> {
    let Some((id, folder)) = read_project(config).filter(|_| config.selvedge.is_data_dir_of_process) else {
        return Ok(());
    };
    let project = &config.project;
    if resolve(Path::new(&folder)) == resolve(&project.folder) {
        return Ok(());
    }
    let data = config.selvedge.data_dir.display();
    if id == project.id && is_gone(Path::new(&folder)) {
        output::print_note(&format!(
            "{data} was used by {folder} before: its data are used on"
        ));
        return write_project(config);
    }
    bail!(
        "{data}, which SELVEDGE_DATA_DIR names, has the data of {} in {}. Nothing was changed\n  to work on that project:             \
         --project {}\n  if the data are this project's now:  selvedge trust",
        show_foreign_text(&id),
        show_foreign_text(&folder),
        show_foreign_text(&folder)
    )
}

/// Whether a folder is not there any more. A disk that is not mounted, or a home that this user may not enter, says nothing about it.
fn is_gone(folder: &Path) -> bool {
    let mut above = folder
        .ancestors()
        .skip(1)
        .filter(|above| !matches!(above.try_exists(), Ok(false)));
    let has_entries = |above: &Path| above.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    matches!(folder.try_exists(), Ok(false)) && above.next().is_some_and(has_entries)
}

fn read_project(config: &Config) -> Option<(String, String)> {
    let mut text = String::new();
    let file = open_own_file(&config.selvedge.data_dir.join(FILE), false).ok()?;
    file.take(8192).read_to_string(&mut text).ok()?;
    let (id, folder) = text.trim_end().split_once('\n')?;
    Some((id.to_owned(), folder.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_109_a_folder_on_a_disk_that_is_not_mounted_is_not_gone() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("mnt");
        let project = place.join("releases/1/supabase");
        std::fs::create_dir_all(&project).unwrap();
        assert!(!is_gone(&project));

        std::fs::create_dir(place.join("releases/2")).unwrap();
        std::fs::remove_dir_all(place.join("releases/1")).unwrap();
        assert!(is_gone(&project));

        std::fs::remove_dir_all(place.join("releases")).unwrap();
        assert!(!is_gone(&project), "the place where a disk is mounted");
    }
}
