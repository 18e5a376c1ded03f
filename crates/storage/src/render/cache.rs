//! Rendered pictures on disk, the least recently used ones leaving when there are too many bytes.
//!
//! A picture's key holds the version of its source, so nothing here can be stale: a replaced object has another version.
//! Files are written beside and renamed; one that a crash tore is recognised by its length and counts as absent.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::picture::Picture;
use crate::version::Version;

/// Content types by the first byte of a file.
const TYPES: [&str; 5] = ["image/jpeg", "image/png", "image/webp", "image/avif", "image/gif"];
/// Type and length before the picture itself.
const HEADER_BYTES: usize = 9;

/// Names one rendered picture: its source's version, and a digest of what was done to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn new(version: Version, recipe: &str) -> Self {
        let digest = hex::encode(Sha256::digest(recipe));
        Self(format!("{}-{}", version.uuid().simple(), &digest[..32]))
    }

    /// The part that differs between two pictures of one source.
    pub(super) fn short(&self) -> &str {
        &self.0[33..41]
    }

    fn of_file(name: &str) -> Option<Self> {
        let legal = name.len() == 65 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        legal.then(|| Self(name.to_owned()))
    }
}

/// The cache. Its methods wait for the disk.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    limit_bytes: u64,
    index: Mutex<Index>,
}

#[derive(Debug, Default)]
struct Index {
    /// In the order of keys, so that those of one source lie together.
    entries: BTreeMap<Key, Entry>,
    /// By last use.
    order: BTreeMap<u64, Key>,
    uses: u64,
    size_bytes: u64,
}

#[derive(Debug)]
struct Entry {
    size_bytes: u64,
    used: u64,
}

impl Index {
    fn insert(&mut self, key: Key, size_bytes: u64) {
        self.remove(&key);
        self.uses += 1;
        self.size_bytes += size_bytes;
        self.order.insert(self.uses, key.clone());
        let used = self.uses;
        self.entries.insert(key, Entry { size_bytes, used });
    }

    fn touch(&mut self, key: &Key) -> bool {
        let Some(entry) = self.entries.get_mut(key) else {
            return false;
        };
        self.uses += 1;
        self.order.remove(&entry.used);
        entry.used = self.uses;
        self.order.insert(self.uses, key.clone());
        true
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.used);
            self.size_bytes -= entry.size_bytes;
        }
    }

    /// Takes all pictures of one source out.
    fn take(&mut self, version: Version) -> Vec<Key> {
        let prefix = format!("{}-", version.uuid().simple());
        let taken: Vec<Key> = self
            .entries
            .range(Key(prefix.clone())..)
            .map(|(key, _)| key.clone())
            .take_while(|key| key.0.starts_with(&prefix))
            .collect();
        for key in &taken {
            self.remove(key);
        }
        taken
    }

    /// Takes the least recently used ones out until the rest fits.
    fn shrink(&mut self, limit_bytes: u64) -> Vec<Key> {
        let mut leaving = Vec::new();
        while self.size_bytes > limit_bytes {
            let Some((_, key)) = self.order.pop_first() else {
                break;
            };
            if let Some(entry) = self.entries.remove(&key) {
                self.size_bytes -= entry.size_bytes;
            }
            leaving.push(key);
        }
        leaving
    }
}

impl Cache {
    /// Opens the folder and finds what an earlier run left there.
    ///
    /// # Errors
    /// When the folder cannot be created or read.
    pub(super) fn open(folder: &Path, limit_bytes: u64) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut found: Vec<(SystemTime, Key, u64)> = Vec::new();
        for entry in fs::read_dir(folder)?.flatten() {
            let key = entry.file_name().to_str().and_then(Key::of_file);
            match (key, entry.metadata()) {
                (Some(key), Ok(metadata)) => {
                    found.push((
                        metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                        key,
                        metadata.len(),
                    ));
                }
                // Half-written when a process died.
                _ => drop(fs::remove_file(entry.path())),
            }
        }
        found.sort();
        let mut index = Index::default();
        for (_, key, size_bytes) in found {
            index.insert(key, size_bytes);
        }
        let cache = Self {
            folder: folder.to_owned(),
            limit_bytes,
            index: Mutex::new(index),
        };
        cache.evict();
        Ok(cache)
    }

    /// A picture, if it is there.
    pub(super) fn get(&self, key: &Key) -> Option<Picture> {
        if !self.lock().touch(key) {
            return None;
        }
        let picture = fs::read(self.folder.join(&key.0)).ok().and_then(unpack);
        if picture.is_none() {
            self.lock().remove(key);
        }
        picture
    }

    /// Keeps a picture. That it cannot is no reason not to send it.
    pub(super) fn put(&self, key: &Key, picture: &Picture) {
        let Some(packed) = pack(picture) else { return };
        if packed.len() as u64 > self.limit_bytes {
            return;
        }
        let staged = self.folder.join(format!("{}.{}", key.0, Version::fresh()));
        let written =
            fs::write(&staged, &packed).and_then(|()| fs::rename(&staged, self.folder.join(&key.0)));
        match written {
            Ok(()) => {
                self.lock().insert(key.clone(), packed.len() as u64);
                self.evict();
            }
            Err(error) => {
                tracing::warn!(%error, "a rendered picture could not be kept");
                let _ = fs::remove_file(&staged);
            }
        }
    }

    /// Removes what was made of a source that is gone.
    pub(super) fn forget(&self, version: Version) {
        let gone = self.lock().take(version);
        self.unlink(gone);
    }

    fn evict(&self) {
        let leaving = self.lock().shrink(self.limit_bytes);
        self.unlink(leaving);
    }

    fn unlink(&self, keys: Vec<Key>) {
        for key in keys {
            let _ = fs::remove_file(self.folder.join(key.0));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pack(picture: &Picture) -> Option<Vec<u8>> {
    let kind = TYPES.iter().position(|kind| *kind == picture.content_type)?;
    let mut packed = Vec::with_capacity(HEADER_BYTES + picture.bytes.len());
    packed.push(u8::try_from(kind).ok()?);
    packed.extend_from_slice(&(picture.bytes.len() as u64).to_le_bytes());
    packed.extend_from_slice(&picture.bytes);
    Some(packed)
}

fn unpack(mut packed: Vec<u8>) -> Option<Picture> {
    let header: [u8; HEADER_BYTES] = packed.get(..HEADER_BYTES)?.try_into().ok()?;
    let content_type = TYPES.get(usize::from(header[0]))?;
    let length = u64::from_le_bytes(header[1..].try_into().ok()?);
    if packed.len() as u64 != length + HEADER_BYTES as u64 {
        return None;
    }
    packed.drain(..HEADER_BYTES);
    Some(Picture {
        content_type,
        bytes: packed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(size: usize) -> Picture {
        Picture {
            content_type: "image/webp",
            bytes: vec![7; size],
        }
    }

    fn files(folder: &Path) -> usize {
        fs::read_dir(folder).expect("readable").count()
    }

    #[test]
    fn the_least_recently_used_leave_when_there_is_too_much() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::open(folder.path(), 3_100).expect("opens");
        let keys: Vec<Key> = (0..4)
            .map(|i| Key::new(Version::fresh(), &i.to_string()))
            .collect();

        for key in &keys[..3] {
            cache.put(key, &picture(1_000));
        }
        assert!(cache.get(&keys[0]).is_some());
        cache.put(&keys[3], &picture(1_000));
        cache.put(&Key::new(Version::fresh(), "huge"), &picture(10_000));

        assert_eq!(cache.get(&keys[1]), None);
        for key in [&keys[0], &keys[2], &keys[3]] {
            assert_eq!(cache.get(key), Some(picture(1_000)));
        }
        assert_eq!(files(folder.path()), 3);
    }

    #[test]
    fn what_was_made_of_a_removed_source_goes_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::open(folder.path(), 10_000).expect("opens");
        let (gone, stays) = (Version::fresh(), Version::fresh());
        for recipe in ["a", "b"] {
            cache.put(&Key::new(gone, recipe), &picture(100));
            cache.put(&Key::new(stays, recipe), &picture(100));
        }

        cache.forget(gone);

        assert_eq!(cache.get(&Key::new(gone, "a")), None);
        assert!(cache.get(&Key::new(stays, "a")).is_some());
        assert_eq!(files(folder.path()), 2);
    }

    #[test]
    fn a_restart_finds_what_was_kept_and_not_what_was_torn() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = Key::new(Version::fresh(), "a");
        let torn = Key::new(Version::fresh(), "b");
        let cache = Cache::open(folder.path(), 10_000).expect("opens");
        cache.put(&whole, &picture(500));
        cache.put(&torn, &picture(500));
        fs::write(folder.path().join(&torn.0), b"half").expect("ours");
        fs::write(folder.path().join("staged.123"), b"half").expect("ours");

        let cache = Cache::open(folder.path(), 10_000).expect("opens");

        assert_eq!(cache.get(&whole), Some(picture(500)));
        assert_eq!(cache.get(&torn), None);
        assert!(!folder.path().join("staged.123").exists());
    }

    #[test]
    fn keys_differ_by_version_and_by_recipe() {
        let version = Version::fresh();
        let (a, b) = (Key::new(version, "a"), Key::new(version, "b"));

        assert_ne!(a, b);
        assert_ne!(a.short(), b.short());
        assert_ne!(a, Key::new(Version::fresh(), "a"));
        assert_eq!(Key::of_file(&a.0), Some(a));
        assert_eq!(Key::of_file("../../etc/passwd"), None);
    }
}
