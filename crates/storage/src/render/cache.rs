//! Rendered images on disk. When they exceed the configured size, the least recently used ones are removed.
//!
//! The key of an image contains the version of its source, so an entry is never stale: a replaced object has another
//! version. Files are written under a temporary name and renamed; a file that a crash truncated is recognised by the
//! length in its header and counts as absent.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::rendered_image::RenderedImage;
use crate::backend::Version;

/// Content types; the first byte of a file is an index into this list.
const CONTENT_TYPES: [&str; 5] = ["image/jpeg", "image/png", "image/webp", "image/avif", "image/gif"];
/// Bytes of type and length in front of the image.
const HEADER_BYTES: usize = 9;

/// Identifies one rendered image: the version of its source, and a digest of transformation and format.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RenderKey(String);

impl RenderKey {
    pub(super) fn new(version: Version, recipe: &str) -> Self {
        let digest = hex::encode(Sha256::digest(recipe));
        Self(format!("{}-{}", version.uuid().simple(), &digest[..32]))
    }

    /// The first digits of the digest, which distinguish images of one source in an entity tag.
    pub(super) fn short_recipe(&self) -> &str {
        // 32 hex digits of the version and a hyphen precede the digest.
        &self.0[33..41]
    }

    /// The key that a file name spells; `None` for other files.
    fn of_file(name: &str) -> Option<Self> {
        let legal = name.len() == 65 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        legal.then(|| Self(name.to_owned()))
    }
}

/// The cache. Its methods block on the disk and must run on the blocking pool.
#[derive(Debug)]
pub(super) struct RenderCache {
    folder: PathBuf,
    limit_bytes: u64,
    index: Mutex<CacheIndex>,
}

#[derive(Debug, Default)]
struct CacheIndex {
    /// Ordered by key, so that the entries of one source are neighbours.
    entries: BTreeMap<RenderKey, CacheEntry>,
    /// Keys by the number of their last use; the first is the least recently used.
    by_use: BTreeMap<u64, RenderKey>,
    /// Counts uses; orders entries without a clock.
    uses: u64,
    size_bytes: u64,
}

#[derive(Debug)]
struct CacheEntry {
    size_bytes: u64,
    used: u64,
}

impl CacheIndex {
    fn insert(&mut self, key: RenderKey, size_bytes: u64) {
        self.remove(&key);
        self.uses += 1;
        self.size_bytes += size_bytes;
        self.by_use.insert(self.uses, key.clone());
        let used = self.uses;
        self.entries.insert(key, CacheEntry { size_bytes, used });
    }

    /// Marks an entry as used now; false when there is none.
    fn touch(&mut self, key: &RenderKey) -> bool {
        let Some(entry) = self.entries.get_mut(key) else {
            return false;
        };
        self.uses += 1;
        self.by_use.remove(&entry.used);
        entry.used = self.uses;
        self.by_use.insert(self.uses, key.clone());
        true
    }

    fn remove(&mut self, key: &RenderKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.by_use.remove(&entry.used);
            self.size_bytes -= entry.size_bytes;
        }
    }

    /// Removes all entries of one source and returns their keys.
    fn remove_source(&mut self, version: Version) -> Vec<RenderKey> {
        let prefix = format!("{}-", version.uuid().simple());
        let removed: Vec<RenderKey> = self
            .entries
            .range(RenderKey(prefix.clone())..)
            .map(|(key, _)| key.clone())
            .take_while(|key| key.0.starts_with(&prefix))
            .collect();
        for key in &removed {
            self.remove(key);
        }
        removed
    }

    /// Removes the least recently used entries until the rest fits, and returns their keys.
    fn evict(&mut self, limit_bytes: u64) -> Vec<RenderKey> {
        let mut evicted = Vec::new();
        while self.size_bytes > limit_bytes {
            let Some((_, key)) = self.by_use.pop_first() else {
                break;
            };
            if let Some(entry) = self.entries.remove(&key) {
                self.size_bytes -= entry.size_bytes;
            }
            evicted.push(key);
        }
        evicted
    }
}

impl RenderCache {
    /// Opens the folder and indexes the images that an earlier run left there.
    ///
    /// # Errors
    /// When the folder cannot be created or read.
    pub(super) fn open(folder: &Path, limit_bytes: u64) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut found: Vec<(SystemTime, RenderKey, u64)> = Vec::new();
        for entry in fs::read_dir(folder)?.flatten() {
            let key = entry.file_name().to_str().and_then(RenderKey::of_file);
            match (key, entry.metadata()) {
                (Some(key), Ok(metadata)) => {
                    found.push((
                        metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                        key,
                        metadata.len(),
                    ));
                }
                // A temporary file whose process died before renaming it.
                _ => drop(fs::remove_file(entry.path())),
            }
        }
        // Uses are not recorded on disk, so after a restart the files are ordered by the time of writing.
        found.sort();
        let mut index = CacheIndex::default();
        for (_, key, size_bytes) in found {
            index.insert(key, size_bytes);
        }
        let cache = Self {
            folder: folder.to_owned(),
            limit_bytes,
            index: Mutex::new(index),
        };
        cache.evict_excess();
        Ok(cache)
    }

    /// An image, if it is cached and its file is complete.
    pub(super) fn get(&self, key: &RenderKey) -> Option<RenderedImage> {
        if !self.lock().touch(key) {
            return None;
        }
        // Read without the lock, so that readers do not wait for each other. A file that is evicted at this moment
        // counts as absent.
        let image = fs::read(self.folder.join(&key.0)).ok().and_then(unpack_image);
        if image.is_none() {
            self.lock().remove(key);
        }
        image
    }

    /// Caches an image. Failure is only logged, because the image can be sent all the same.
    pub(super) fn put(&self, key: &RenderKey, image: &RenderedImage) {
        let Some(packed) = pack_image(image) else { return };
        if packed.len() as u64 > self.limit_bytes {
            return;
        }
        // A unique name for each write: two processes that render the same image must not write into one file.
        let staged = self.folder.join(format!("{}.{}", key.0, Version::fresh()));
        let written =
            fs::write(&staged, &packed).and_then(|()| fs::rename(&staged, self.folder.join(&key.0)));
        match written {
            Ok(()) => {
                self.lock().insert(key.clone(), packed.len() as u64);
                self.evict_excess();
            }
            Err(error) => {
                tracing::warn!(%error, "a rendered image could not be cached");
                let _ = fs::remove_file(&staged);
            }
        }
    }

    /// Removes the images of a source.
    pub(super) fn remove_source(&self, version: Version) {
        let gone = self.lock().remove_source(version);
        self.delete_files(gone);
    }

    /// Removes all images.
    pub(super) fn clear(&self) {
        let evicted = self.lock().evict(0);
        self.delete_files(evicted);
    }

    fn evict_excess(&self) {
        let evicted = self.lock().evict(self.limit_bytes);
        self.delete_files(evicted);
    }

    fn delete_files(&self, keys: Vec<RenderKey>) {
        for key in keys {
            let _ = fs::remove_file(self.folder.join(key.0));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, CacheIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file of an image: type, length, bytes.
fn pack_image(image: &RenderedImage) -> Option<Vec<u8>> {
    let kind = CONTENT_TYPES
        .iter()
        .position(|kind| *kind == image.content_type)?;
    let mut packed = Vec::with_capacity(HEADER_BYTES + image.bytes.len());
    packed.push(u8::try_from(kind).ok()?);
    packed.extend_from_slice(&(image.bytes.len() as u64).to_le_bytes());
    packed.extend_from_slice(&image.bytes);
    Some(packed)
}

/// The image of a file; `None` when the file is truncated or has another format.
fn unpack_image(mut packed: Vec<u8>) -> Option<RenderedImage> {
    let header: [u8; HEADER_BYTES] = packed.get(..HEADER_BYTES)?.try_into().ok()?;
    let content_type = CONTENT_TYPES.get(usize::from(header[0]))?;
    let length = u64::from_le_bytes(header[1..].try_into().ok()?);
    if packed.len() as u64 != length + HEADER_BYTES as u64 {
        return None;
    }
    packed.drain(..HEADER_BYTES);
    Some(RenderedImage {
        content_type,
        bytes: packed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(size: usize) -> RenderedImage {
        RenderedImage {
            content_type: "image/webp",
            bytes: vec![7; size],
        }
    }

    fn files(folder: &Path) -> usize {
        fs::read_dir(folder).expect("readable").count()
    }

    #[test]
    fn the_least_recently_used_images_are_evicted_above_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = RenderCache::open(folder.path(), 3_100).expect("opens");
        let keys: Vec<RenderKey> = (0..4)
            .map(|i| RenderKey::new(Version::fresh(), &i.to_string()))
            .collect();

        for key in &keys[..3] {
            cache.put(key, &image(1_000));
        }
        assert!(cache.get(&keys[0]).is_some());
        cache.put(&keys[3], &image(1_000));
        cache.put(&RenderKey::new(Version::fresh(), "huge"), &image(10_000));

        assert_eq!(cache.get(&keys[1]), None);
        for key in [&keys[0], &keys[2], &keys[3]] {
            assert_eq!(cache.get(key), Some(image(1_000)));
        }
        assert_eq!(files(folder.path()), 3);
    }

    #[test]
    fn removing_a_source_removes_its_images() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = RenderCache::open(folder.path(), 10_000).expect("opens");
        let (gone, stays) = (Version::fresh(), Version::fresh());
        for recipe in ["a", "b"] {
            cache.put(&RenderKey::new(gone, recipe), &image(100));
            cache.put(&RenderKey::new(stays, recipe), &image(100));
        }

        cache.remove_source(gone);

        assert_eq!(cache.get(&RenderKey::new(gone, "a")), None);
        assert!(cache.get(&RenderKey::new(stays, "a")).is_some());
        assert_eq!(files(folder.path()), 2);
    }

    #[test]
    fn a_restart_keeps_complete_files_and_drops_truncated_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = RenderKey::new(Version::fresh(), "a");
        let torn = RenderKey::new(Version::fresh(), "b");
        let cache = RenderCache::open(folder.path(), 10_000).expect("opens");
        cache.put(&whole, &image(500));
        cache.put(&torn, &image(500));
        fs::write(folder.path().join(&torn.0), b"half").expect("ours");
        fs::write(folder.path().join("staged.123"), b"half").expect("ours");

        let cache = RenderCache::open(folder.path(), 10_000).expect("opens");

        assert_eq!(cache.get(&whole), Some(image(500)));
        assert_eq!(cache.get(&torn), None);
        assert!(!folder.path().join("staged.123").exists());
    }

    #[test]
    fn keys_differ_by_version_and_by_recipe() {
        let version = Version::fresh();
        let (a, b) = (RenderKey::new(version, "a"), RenderKey::new(version, "b"));

        assert_ne!(a, b);
        assert_ne!(a.short_recipe(), b.short_recipe());
        assert_ne!(a, RenderKey::new(Version::fresh(), "a"));
        assert_eq!(RenderKey::of_file(&a.0), Some(a));
        assert_eq!(RenderKey::of_file("../../etc/passwd"), None);
    }
}
