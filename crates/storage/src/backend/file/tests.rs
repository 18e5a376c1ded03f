//! Tests of the file backend on a real folder.

use bytes::Bytes;
use futures_util::StreamExt;
use md5::{Digest, Md5};
use selvedge_postgres::DiskLevel;

use super::*;
use crate::backend::BlobBody;

fn files_below(folder: &Path) -> usize {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|e| e.file_type().is_file())
        .count()
}

async fn read_all(backend: &FileBackend, version: Version) -> Vec<u8> {
    let reader = backend.open(version).await.expect("blob exists");
    let size = reader.size_bytes();
    match reader.read(0, size) {
        BlobBody::Whole(bytes) => bytes.to_vec(),
        BlobBody::Stream(stream) => {
            stream
                .map(|chunk| chunk.expect("readable").to_vec())
                .concat()
                .await
        }
    }
}

#[actix_web::test]
async fn store_001_blobs_of_any_size_are_read_back_unchanged() {
    let root = tempfile::tempdir().expect("temp dir");
    let backend = FileBackend::open(root.path()).expect("store opens");
    for size in [0_usize, 1, 70_000, 1_000_000] {
        let content: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
        let version = Version::fresh();

        let mut writer = backend.create(version).await.expect("create");
        for piece in content.chunks(10_007) {
            writer.write(Bytes::copy_from_slice(piece)).await.expect("write");
        }
        let info = writer.finish().await.expect("finish");

        assert_eq!(info.size_bytes, size as u64);
        assert_eq!(info.etag, format!("\"{}\"", hex::encode(Md5::digest(&content))));
        assert_eq!(read_all(&backend, version).await, content);
    }
}

#[actix_web::test]
async fn store_082_dropping_a_writer_removes_its_bytes() {
    let root = tempfile::tempdir().expect("temp dir");
    let backend = FileBackend::open(root.path()).expect("store opens");

    let mut writer = backend.create(Version::fresh()).await.expect("create");
    writer.write(Bytes::from(vec![7; 600_000])).await.expect("write");
    drop(writer);

    assert_eq!(files_below(root.path()), 0);
}

#[actix_web::test]
async fn store_081_opening_removes_writes_of_ended_processes_only() {
    let root = tempfile::tempdir().expect("temp dir");
    let living = FileBackend::open(root.path()).expect("store opens");
    let mut writer = living.create(Version::fresh()).await.expect("create");
    writer.write(Bytes::from(vec![7; 600_000])).await.expect("write");
    let crashed = root.path().join("incoming/crashed");
    fs::create_dir(&crashed).expect("ours");
    fs::write(crashed.join("half"), b"half").expect("ours");

    let _second = FileBackend::open(root.path()).expect("store opens");

    assert!(!crashed.exists());
    writer
        .finish()
        .await
        .expect("the upload of a living process is not disturbed");
    assert_eq!(files_below(root.path()), 1);
}

#[actix_web::test]
async fn store_083_copies_survive_the_removal_of_their_source() {
    let root = tempfile::tempdir().expect("temp dir");
    let backend = FileBackend::open(root.path()).expect("store opens");
    let (from, to) = (Version::fresh(), Version::fresh());
    let mut writer = backend.create(from).await.expect("create");
    writer.write(Bytes::from_static(b"kept")).await.expect("write");
    writer.finish().await.expect("finish");

    backend.copy(from, to, &DiskState::default()).await.expect("copy");
    backend.remove(from).await.expect("remove");
    backend.remove(from).await.expect("removing twice is fine");

    assert_eq!(read_all(&backend, to).await, b"kept");
    assert!(matches!(backend.open(from).await, Err(BackendError::Missing)));
    assert!(matches!(
        backend.copy(from, Version::fresh(), &DiskState::default()).await,
        Err(BackendError::Missing)
    ));
}

async fn write_blob(backend: &FileBackend, content: &[u8]) -> Version {
    let version = Version::fresh();
    let mut writer = backend.create(version).await.expect("create");
    writer
        .write(Bytes::copy_from_slice(content))
        .await
        .expect("write");
    writer.finish().await.expect("finish");
    version
}

#[actix_web::test]
async fn store_087_parts_of_any_size_are_joined_in_order() {
    let root = tempfile::tempdir().expect("temp dir");
    let backend = FileBackend::open(root.path()).expect("store opens");
    let parts = [
        write_blob(&backend, b"one, ").await,
        write_blob(&backend, b"").await,
        write_blob(&backend, &vec![b'2'; 700_000]).await,
    ];
    let whole = Version::fresh();

    let stat = backend
        .concat(&parts, whole, &DiskState::default())
        .await
        .expect("concat");

    assert_eq!(stat.size_bytes, 700_005);
    assert_eq!(backend.stat(whole).await.expect("stat"), stat);
    let bytes = read_all(&backend, whole).await;
    assert!(bytes.starts_with(b"one, 22") && bytes.len() == 700_005);
    let missing = backend
        .concat(
            &[parts[0], Version::fresh()],
            Version::fresh(),
            &DiskState::default(),
        )
        .await;
    assert!(matches!(missing, Err(BackendError::Missing)));
    assert_eq!(files_below(root.path()), 4, "a failed concat leaves no file");
}

#[actix_web::test]
async fn prod_009_parts_are_not_joined_on_a_full_disk() {
    let root = tempfile::tempdir().expect("temp dir");
    let backend = FileBackend::open(root.path()).expect("store opens");
    let parts = [
        write_blob(&backend, b"one").await,
        write_blob(&backend, b"two").await,
    ];
    let disk = DiskState::default();
    disk.set(DiskLevel::Full);

    let refused = backend.concat(&parts, Version::fresh(), &disk).await;

    let is_full = |error: &std::io::Error| error.kind() == std::io::ErrorKind::StorageFull;
    assert!(matches!(refused, Err(BackendError::Io(error)) if is_full(&error)));
    assert_eq!(files_below(root.path()), 2, "nothing is left of it");
}

#[actix_web::test]
async fn store_081_lists_are_paged_and_omit_unfinished_blobs() {
    let root = tempfile::tempdir().expect("temp dir");
    let backend = FileBackend::open(root.path()).expect("store opens");
    let mut versions = Vec::new();
    for content in [b"1", b"2", b"3", b"4", b"5"] {
        versions.push(write_blob(&backend, content).await);
    }
    versions.sort_unstable();
    let mut unfinished = backend.create(Version::fresh()).await.expect("create");
    unfinished
        .write(Bytes::from(vec![0; 600_000]))
        .await
        .expect("write");
    fs::write(root.path().join("blobs/lost+found"), b"").expect("ours");

    let mut seen = Vec::new();
    while let Some(after) = Some(seen.last().copied()) {
        let page = backend.list(after, 2).await.expect("list");
        if page.is_empty() {
            break;
        }
        seen.extend(page.iter().map(|entry| entry.version));
    }

    assert_eq!(seen, versions);
}

/// The PostgreSQL at an address may be replaced while the service runs.
#[actix_web::test]
async fn store_081_another_database_at_the_same_address_does_not_own_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("owners");
    std::fs::write(&path, "own\n").unwrap();
    let note = OwnersNote {
        path,
        own: "own".to_owned(),
        is_elsewhere: false,
        database: None,
    };
    let known = OwnersNote {
        database: Some("7-1".to_owned()),
        ..note.clone()
    };
    let open = |note: OwnersNote| {
        let store = FileBackend::open(&folder.path().join("store"));
        store.unwrap().with_owners(Some(note))
    };
    let (backend, asked_before) = (open(note), open(known));
    let others = ["7-1, which was at this address when this process began"];

    let [first, other, again] = ["7-1", "8-1", "7-1"].map(|database| backend.list_other_owners(database));

    assert!(first.await.unwrap().is_empty());
    assert_eq!(other.await.unwrap(), others);
    assert!(again.await.unwrap().is_empty(), "it is there again");
    // It was replaced before the first claim.
    assert_eq!(asked_before.list_other_owners("8-1").await.unwrap(), others);
    assert!(asked_before.list_other_owners("7-1").await.unwrap().is_empty());
}

/// A second database may come while the service of the first one runs.
#[actix_web::test]
async fn store_081_databases_that_note_their_objects_later_are_found_by_the_next_claim() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("owners");
    let note = OwnersNote {
        path: path.clone(),
        own: "own".to_owned(),
        is_elsewhere: false,
        database: None,
    };
    let backend = FileBackend::open(&folder.path().join("store"))
        .unwrap()
        .with_owners(Some(note));
    assert!(
        backend.list_other_owners("7/1").await.unwrap().is_empty(),
        "nobody has noted anything"
    );

    std::fs::write(&path, "own\n").unwrap();
    assert!(backend.list_other_owners("7/1").await.unwrap().is_empty());
    std::fs::write(&path, "own\n7/5 staging.example.com:5432/app\n").unwrap();

    let others = backend.list_other_owners("7/1").await.unwrap();

    assert_eq!(others, ["7/5 staging.example.com:5432/app"]);
}

#[actix_web::test]
async fn what_other_programs_leave_beside_marks_names_no_database() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let note = OwnersNote {
        path: folder.path().join("note"),
        own: "own".to_owned(),
        is_elsewhere: true,
        database: None,
    };
    let backend = FileBackend::open(folder.path())
        .expect("the store opens")
        .with_owners(Some(note));
    backend.write_mark("7-5", "").await.expect("written");
    let owners = folder.path().join("owners");
    std::fs::create_dir(owners.join("folder")).expect("ours");
    std::fs::write(owners.join(".nfs0000000000000001"), "").expect("ours");

    let others = backend.list_other_owners("7-1").await.expect("listed");
    let removed = backend.remove_other_marks("7-1").await.expect("removed");

    assert_eq!(others, ["7-5 (renewed 0 minutes ago)"]);
    assert_eq!(removed, ["7-5"]);
}
