//! Data folders of this machine: a second database is not begun where the known one is elsewhere, or cannot be seen for a moment.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Result, bail};
use selvedge_postgres::cluster::{ClusterError, fits_beside, is_production_home, is_used_folder};

use super::answers::Answers;
use super::record::Record;

/// Refuses a data folder in which the server would begin with an empty database although this machine has served another one.
///
/// # Errors
/// Where the data are or were, and how to go on.
pub(super) fn check_home(answers: &Answers, record: &Record, begins_new: bool) -> Result<()> {
    let (old, new) = (&record.answers.home, &answers.home);
    if !fits_beside(new) {
        return Err(ClusterError::LongHome { home: new.clone() }.into());
    }
    if begins_new || is_production_home(new) {
        return Ok(());
    }
    // A disk that is not mounted looks like a folder that is missing or empty.
    if record.served.contains(new) {
        return refuse_lost(new);
    }
    if old == new {
        return Ok(());
    }
    let was_served = record.served.contains(old);
    let has_data = is_production_home(old) || is_used_folder(old).unwrap_or(true);
    if has_data && (was_served || !record.made.is_empty()) {
        bail!(
            "this machine's server has its data in {old}, and would begin an empty database in {new}. Nothing was changed\n  to move the data:  \
             systemctl stop selvedge selvedge-postgres && {move_data}, and then this command again\n  to begin with an empty database all the \
             same:  --new-database",
            old = old.display(),
            new = new.display(),
            move_data = describe_move(old, new)
        );
    }
    match was_served {
        true => refuse_lost(old),
        false => Ok(()),
    }
}

fn refuse_lost(home: &Path) -> Result<()> {
    bail!(
        "this machine's server had its data in {0}, and they are not there now. Nothing was changed\n  if the disk is not mounted:  mount it, \
         and then this command again\n  if the folder was moved:  name its place by --data-dir\n  to begin with an empty database:  \
         --new-database",
        home.display()
    )
}

/// A disk cannot be renamed, and a folder that is there would get the old one as an entry.
fn describe_move(old: &Path, new: &Path) -> String {
    let (old_name, new_name) = (old.display(), new.display());
    match is_mount_point(old) || is_mount_point(new) {
        true => format!("cp -a {old_name}/. {new_name}/"),
        false => format!("mv -T {old_name} {new_name}"),
    }
}

fn is_mount_point(folder: &Path) -> bool {
    let device = |path: &Path| path.metadata().map(|meta| meta.dev());
    match (device(folder), folder.parent().map(device)) {
        (Ok(own), Some(Ok(above))) => own != above,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::commands::setup::undo::Undo;

    fn check(folder: &Path, record: &mut Record, (old, new): (&str, &str)) -> Result<(), String> {
        record.answers.home = folder.join(old);
        let answers = Answers {
            home: folder.join(new),
            ..Answers::default()
        };
        check_home(&answers, record, false).map_err(|error| error.to_string())
    }

    #[test]
    fn prod_008_an_empty_database_is_begun_only_where_none_was_served() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut record = Record::read(&path.join("setup.json")).unwrap();
        fs::create_dir_all(path.join("home")).unwrap();
        fs::create_dir(path.join("home/lost+found")).unwrap();
        assert_eq!(check(path, &mut record, ("home", "home")), Ok(()));

        record.note_served(&path.join("home")).unwrap();
        let unmounted = check(path, &mut record, ("home", "home")).unwrap_err();
        let elsewhere = check(path, &mut record, ("home", "other")).unwrap_err();
        assert!(unmounted.contains("not there now"), "{unmounted}");
        assert!(elsewhere.contains("not there now"), "{elsewhere}");

        fs::write(path.join("home/production"), "").unwrap();
        assert_eq!(check(path, &mut record, ("home", "home")), Ok(()));
        // Nothing is left of what was made, but for the data.
        let second = check(path, &mut record, ("home", "other")).unwrap_err();
        assert!(second.contains("has its data in"), "{second}");
        assert!(second.contains("mv -T"), "{second}");
        fs::rename(path.join("home"), path.join("other")).unwrap();
        assert_eq!(check(path, &mut record, ("home", "other")), Ok(()));
    }

    #[test]
    fn prod_008_an_empty_database_is_begun_where_people_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let mut record = Record::read(&folder.path().join("setup.json")).unwrap();
        record.note_served(&home).unwrap();
        let answers = Answers {
            home,
            ..Answers::default()
        };

        assert!(check_home(&answers, &record, false).is_err());
        assert!(check_home(&answers, &record, true).is_ok());
    }

    #[test]
    fn prod_008_data_of_a_server_that_never_answered_are_moved_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut record = Record::read(&path.join("setup.json")).unwrap();
        fs::create_dir_all(path.join("home/pgdata")).unwrap();
        assert_eq!(check(path, &mut record, ("home", "other")), Ok(()));

        record.add(Undo::Service("b.service".to_owned())).unwrap();
        let refused = check(path, &mut record, ("home", "other")).unwrap_err();
        assert!(refused.contains("has its data in"), "{refused}");
    }

    #[test]
    fn prod_008_a_path_that_no_socket_can_have_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record::read(&folder.path().join("setup.json")).unwrap();
        let answers = Answers {
            home: Path::new("/data").join("x".repeat(100)),
            ..Answers::default()
        };

        assert!(check_home(&answers, &record, false).is_err());
    }
}
