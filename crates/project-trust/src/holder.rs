//! Which project a data folder is of that a variable of the process names. Such a folder needs no trust, but a variable stays in a shell
//! when its user goes on to another project.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::{Context, Result, bail};
use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
use selvedge_config::{Config, Project};
use selvedge_postgres::cluster::open_own_file;
use selvedge_project_files::resolve;
use selvedge_terminal::{print_note, show_foreign_text};

use super::records::write_private_file;

/// The file with the project's id, its folder, and the path that leads there where that is another one, a line each.
const FILE: &str = "project";

/// What a data folder has noted.
#[derive(Debug, PartialEq, Eq)]
struct Note {
    id: String,
    folder: String,
    /// The path by which the project was named, such as a link to the current release.
    named: Option<String>,
}

/// Whose data a data folder has.
#[derive(Debug, PartialEq, Eq)]
enum Holder {
    /// This project's, or nothing is noted.
    Own,
    /// This project's, whose folder was another one; with what the user is told.
    Moved(Option<String>),
    Other(Note),
}

/// Records the project in a data folder that has its database now, unless one is recorded already. Where the file cannot be written the
/// user is told, and the project runs all the same.
pub fn record_project(config: &Config) {
    if !config.selvedge.is_data_dir_of_process || read_project(config).is_some() {
        return;
    }
    if let Err(error) = write_project(config) {
        print_note(&format!("{error:#}"));
    }
}

/// Notes the project, whatever was noted.
pub(super) fn write_project(config: &Config) -> Result<()> {
    let path = config.selvedge.data_dir.join(FILE);
    let project = &config.project;
    let mut text = format!("{}\n{}", project.id, project.folder.display());
    if is_behind_link(project) {
        text += &format!("\n{}", project.named.display());
    }
    write_private_file(&path, &text).with_context(|| format!("cannot write {}", path.display()))
}

/// Refuses a command that changes data of another project. The id, which a file of the project chooses, proves nothing while the noted
/// folder is there; a project that has moved keeps its id, one whose id has changed its folder, and one behind a link the path of the link.
///
/// # Errors
/// When the data folder is noted as another project's. The message says what to do.
pub fn refuse_data_of_others(config: &Config) -> Result<()> {
    let Some(note) = read_project(config).filter(|_| config.selvedge.is_data_dir_of_process) else {
        return Ok(());
    };
    match find_holder(&config.project, note) {
        Holder::Own => Ok(()),
        Holder::Moved(told) => {
            if let Some(folder) = told {
                print_note(&format!(
                    "{} was used by {folder} before: its data are used on",
                    config.selvedge.data_dir.display()
                ));
            }
            write_project(config)
        }
        Holder::Other(note) => {
            let folder = show_foreign_text(&note.folder);
            bail!(
                "{}, which SELVEDGE_DATA_DIR names, has the data of {} in {folder}. Nothing was changed\n  to work on that project:             \
                 --project {folder}\n  if the data are this project's now:  selvedge trust",
                config.selvedge.data_dir.display(),
                show_foreign_text(&note.id)
            )
        }
    }
}

/// The id and the folder of the other project whose data the data folder has. Nothing is written, and whoever asks need not be the one to whom
/// the folder belongs.
pub fn find_other_holder(config: &Config) -> Option<(String, String)> {
    let note = parse(open_of_owner(&config.selvedge.data_dir)?)?;
    match find_holder(&config.project, note) {
        Holder::Other(note) => Some((show_foreign_text(&note.id), show_foreign_text(&note.folder))),
        Holder::Own | Holder::Moved(_) => None,
    }
}

fn find_holder(project: &Project, note: Note) -> Holder {
    let noted = Path::new(&note.folder);
    let is_named_so = note.named.as_deref().map(Path::new) == Some(project.named.as_path());
    if resolve(noted) == resolve(&project.folder) {
        // The next release is known by the link.
        return match is_behind_link(project) && !is_named_so {
            true => Holder::Moved(None),
            false => Holder::Own,
        };
    }
    if is_named_so {
        return Holder::Moved(None);
    }
    match note.id == project.id && is_gone(noted) {
        true => Holder::Moved(Some(note.folder)),
        false => Holder::Other(note),
    }
}

fn is_behind_link(project: &Project) -> bool {
    project.named.is_absolute() && project.named != project.folder
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

fn read_project(config: &Config) -> Option<Note> {
    parse(open_own_file(&config.selvedge.data_dir.join(FILE), false).ok()?)
}

/// Opens the note if it belongs to whom its folder belongs.
fn open_of_owner(data_dir: &Path) -> Option<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(O_NOFOLLOW | O_NONBLOCK)
        .open(data_dir.join(FILE))
        .ok()?;
    let (note, folder) = (file.metadata().ok()?, data_dir.metadata().ok()?);
    (note.is_file() && note.uid() == folder.uid()).then_some(file)
}

fn parse(file: File) -> Option<Note> {
    let mut text = String::new();
    file.take(8192).read_to_string(&mut text).ok()?;
    let mut lines = text.lines().map(str::to_owned);
    Some(Note {
        id: lines.next()?,
        folder: lines.next()?,
        named: lines.next(),
    })
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

    #[test]
    fn prod_008_a_release_behind_a_link_stays_the_same_project() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let release = |name: &str| {
            let folder = root.join("releases").join(name);
            std::fs::create_dir_all(folder.join("supabase")).unwrap();
            let _ = std::fs::remove_file(root.join("app"));
            std::os::unix::fs::symlink(&folder, root.join("app")).unwrap();
            Project::find(Some(&root.join("app")), Path::new("/")).unwrap()
        };
        let note = |project: &Project, named: bool| Note {
            id: project.id.clone(),
            folder: project.folder.display().to_string(),
            named: named.then(|| project.named.display().to_string()),
        };

        let first = release("42");
        assert_eq!(find_holder(&first, note(&first, true)), Holder::Own);
        assert_eq!(find_holder(&first, note(&first, false)), Holder::Moved(None));
        let second = release("43");

        assert_eq!(first.named, second.named);
        assert_eq!(find_holder(&second, note(&first, true)), Holder::Moved(None));
        // Without the link it is another release, which is there beside the first.
        let named = Project::find(Some(&root.join("releases/43")), Path::new("/")).unwrap();
        assert_eq!(
            find_holder(&named, note(&first, true)),
            Holder::Other(note(&first, true))
        );
    }
}
