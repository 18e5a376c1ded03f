//! A store of pictures in memory: the storage service has tests of its own, and the site's tests use both together.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use image::{ImageFormat, RgbImage};
use selvedge_generator::{PictureStore, StoreError};

/// Objects by `bucket/name`.
#[derive(Default)]
pub(crate) struct MemoryStore {
    objects: Mutex<HashMap<String, Bytes>>,
    refuses_writes: AtomicBool,
}

impl MemoryStore {
    pub(crate) fn object(&self, path: &str) -> Option<Bytes> {
        self.objects.lock().expect("not poisoned").get(path).cloned()
    }

    pub(crate) fn insert(&self, path: &str, bytes: Bytes) {
        self.objects
            .lock()
            .expect("not poisoned")
            .insert(path.to_owned(), bytes);
    }

    pub(crate) fn count(&self) -> usize {
        self.objects.lock().expect("not poisoned").len()
    }

    pub(crate) fn refuse_writes(&self, refuses: bool) {
        self.refuses_writes.store(refuses, Ordering::SeqCst);
    }
}

#[async_trait(?Send)]
impl PictureStore for MemoryStore {
    async fn render(
        &self,
        bucket: &str,
        name: &str,
        (width, height): (u32, u32),
        crops: bool,
    ) -> Result<Vec<u8>, StoreError> {
        let bytes = self
            .object(&format!("{bucket}/{name}"))
            .ok_or(StoreError::Missing)?;
        let picture = image::load_from_memory(&bytes).map_err(|_| StoreError::Unreadable)?;
        let filter = image::imageops::FilterType::Triangle;
        let resized = match crops {
            true => picture.resize_to_fill(width, height, filter),
            false => picture.resize(width, height, filter),
        };
        let mut encoded = Vec::new();
        resized
            .write_to(&mut Cursor::new(&mut encoded), ImageFormat::WebP)
            .map_err(|error| StoreError::Failed(error.to_string()))?;
        Ok(encoded)
    }

    fn sign_download(&self, bucket: &str, name: &str, lifetime: Duration) -> Result<String, StoreError> {
        Ok(format!("/signed/{bucket}/{name}?seconds={}", lifetime.as_secs()))
    }

    async fn put(
        &self,
        bucket: &str,
        name: &str,
        _content_type: &str,
        bytes: Bytes,
    ) -> Result<(), StoreError> {
        if self.refuses_writes.load(Ordering::SeqCst) {
            return Err(StoreError::Failed("the disk is full".to_owned()));
        }
        self.insert(&format!("{bucket}/{name}"), bytes);
        Ok(())
    }

    async fn delete(&self, bucket: &str, name: &str) -> Result<(), StoreError> {
        self.objects
            .lock()
            .expect("not poisoned")
            .remove(&format!("{bucket}/{name}"));
        Ok(())
    }
}

/// A PNG of one colour.
pub(crate) fn png(width: u32, height: u32, colour: [u8; 3]) -> Bytes {
    let mut bytes = Vec::new();
    RgbImage::from_pixel(width, height, image::Rgb(colour))
        .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
        .expect("encodes");
    bytes.into()
}
