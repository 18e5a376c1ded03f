//! Which data folders count, with records in a folder of the test's own.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;

struct Places {
    _folder: tempfile::TempDir,
    records: Records,
    root: PathBuf,
}

fn places() -> Places {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    Places {
        records: Records::below(&[root.join("state")]),
        root,
        _folder: folder,
    }
}

impl Places {
    fn make(&self, name: &str) -> PathBuf {
        let path = self.root.join(name);
        create(&path).unwrap();
        bind(&path, &self.records, Grants::default()).unwrap();
        path
    }

    fn inspect(&self, path: &Path) -> Standing {
        inspect(path, &self.records).unwrap()
    }
}

#[test]
fn gw_109_a_data_folder_counts_where_it_was_made_alone() {
    let places = places();
    let own = places.make("one/.selvedge");

    let copy = places.root.join("copy");
    std::fs::create_dir(&copy).unwrap();
    std::fs::copy(own.join(ID_FILE), copy.join(ID_FILE)).unwrap();
    let shipped = places.root.join("shipped");
    std::fs::create_dir(&shipped).unwrap();
    std::fs::write(shipped.join("replacement.json"), "{}").unwrap();

    assert!(matches!(places.inspect(&own), Standing::Own));
    assert!(matches!(
        places.inspect(&places.root.join("none")),
        Standing::Missing
    ));
    assert!(matches!(
        places.inspect(&copy),
        Standing::Foreign(Reason::Unknown)
    ));
    assert!(matches!(
        places.inspect(&shipped),
        Standing::Foreign(Reason::Unknown)
    ));
}

#[test]
fn gw_109_a_folder_whose_maker_was_ended_before_it_had_an_id_is_made_again() {
    let places = places();
    for parts in [&[][..], &[IGNORE_FILE], &[IGNORE_FILE, NEW_ID_FILE]] {
        let path = places.root.join(format!("cut-off-{}", parts.len()));
        std::fs::create_dir(&path).unwrap();
        for part in parts {
            std::fs::write(path.join(part), "").unwrap();
        }

        assert!(matches!(places.inspect(&path), Standing::Missing), "{parts:?}");
        create(&path).unwrap();
        bind(&path, &places.records, Grants::default()).unwrap();
        assert!(matches!(places.inspect(&path), Standing::Own), "{parts:?}");
        assert_eq!(std::fs::read_to_string(path.join(IGNORE_FILE)).unwrap(), "*\n");
    }
    // A link of one of these names, or anything else beside them, came from somebody.
    let linked = places.root.join("linked");
    std::fs::create_dir(&linked).unwrap();
    symlink("/etc/passwd", linked.join(IGNORE_FILE)).unwrap();
    assert!(matches!(places.inspect(&linked), Standing::Foreign(_)));
}

#[test]
fn gw_109_a_moved_data_folder_stays_its_users() {
    let places = places();
    let own = places.make("one");
    let moved = places.root.join("moved");

    std::fs::rename(&own, &moved).unwrap();

    let Standing::Moved(record) = places.inspect(&moved) else {
        panic!("it is the same folder");
    };
    assert_eq!(record.path, own.display().to_string());
    bind(&moved, &places.records, record.grants).unwrap();
    assert!(matches!(places.inspect(&moved), Standing::Own));
}

#[test]
fn gw_109_links_count_after_they_were_trusted() {
    let places = places();
    let own = places.make("one");
    let linked = places.root.join("linked");
    symlink(&own, &linked).unwrap();
    symlink(&places.root, own.join("storage")).unwrap();

    let whole = places.inspect(&linked);
    let entry = places.inspect(&own);
    bind(&own, &places.records, Grants::default()).unwrap();

    // The link has no record of its own, so it does not lead a stranger's project to the data of another one.
    assert!(matches!(whole, Standing::Foreign(_)), "{whole:?}");
    assert!(
        matches!(&entry, Standing::Foreign(Reason::Link { name, .. }) if name == "storage"),
        "{entry:?}"
    );
    assert!(matches!(places.inspect(&own), Standing::Own));
    std::fs::remove_file(own.join("storage")).unwrap();
    symlink("/etc", own.join("storage")).unwrap();
    assert!(matches!(
        places.inspect(&own),
        Standing::Foreign(Reason::Link { .. })
    ));
}

#[test]
fn gw_109_a_folder_of_records_that_others_may_write_does_not_count() {
    use std::os::unix::fs::PermissionsExt as _;
    let places = places();
    let own = places.make("one");
    let state = places.root.join("state");

    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).unwrap();
    let refused = places.inspect(&own);
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o700)).unwrap();

    assert!(matches!(refused, Standing::Foreign(Reason::Unknown)));
    assert!(matches!(places.inspect(&own), Standing::Own));
}

#[test]
fn gw_109_a_reset_deletes_a_link_and_not_what_it_leads_to() {
    let places = places();
    let precious = places.root.join("precious");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("file"), "mine").unwrap();
    let (linked, shipped) = (places.root.join("linked"), places.root.join("shipped"));
    symlink(&precious, &linked).unwrap();
    std::fs::create_dir(&shipped).unwrap();
    symlink(&precious, shipped.join("pgdata")).unwrap();
    symlink(precious.join("file"), shipped.join("lock")).unwrap();

    delete_unread(&linked).unwrap();
    delete_unread(&shipped).unwrap();

    assert!(!linked.exists() && !shipped.exists());
    assert_eq!(std::fs::read_to_string(precious.join("file")).unwrap(), "mine");
}
