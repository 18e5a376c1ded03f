//! Where pictures are made: off the event loops, as many at a time as there are cores, in bounded memory and time.
//!
//! Requests for the same picture wait for one rendering. A client that goes away stops waiting; work that has begun is
//! finished and kept, the next one will ask for it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::cache::{Cache, Key};
use super::picture::{self, MAX_PIXELS, Output, Picture, Unrenderable};
use super::rate::RateLimit;
use super::transform::Transform;
use crate::error::StorageError;
use crate::version::Version;

/// How long one rendering may take, and how long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(15);
/// Requests that may wait; more are refused at once.
const QUEUE: usize = 256;
/// Memory for pixels, in MiB: the largest source fits once.
const PIXEL_MEMORY_MIB: u32 = (MAX_PIXELS * 4 / (1 << 20)) as u32 + 1;

/// The renderer of this process.
pub(crate) struct Renderer {
    cache: Arc<Cache>,
    turns: Arc<Semaphore>,
    memory: Arc<Semaphore>,
    waiting: AtomicUsize,
    under_way: Mutex<HashMap<Key, Weak<AsyncMutex<()>>>>,
    rate: Option<RateLimit>,
}

/// What to render, and how.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) key: Key,
    pub(super) transform: Transform,
    pub(super) output: Output,
}

impl Renderer {
    /// A renderer that keeps its pictures in `folder`, and lets a client ask `per_second` times for one path.
    ///
    /// # Errors
    /// When the folder cannot be created or read.
    pub(crate) fn open(folder: &Path, limit_bytes: u64, per_second: Option<u32>) -> std::io::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Ok(Self {
            cache: Arc::new(Cache::open(folder, limit_bytes)?),
            turns: Arc::new(Semaphore::new(cores.min(16))),
            memory: Arc::new(Semaphore::new(PIXEL_MEMORY_MIB as usize)),
            waiting: AtomicUsize::new(0),
            under_way: Mutex::new(HashMap::new()),
            rate: per_second.map(RateLimit::new),
        })
    }

    /// Whether a client may ask for a path now.
    pub(super) fn admits(&self, client: IpAddr, path: &str) -> bool {
        self.rate
            .as_ref()
            .is_none_or(|rate| rate.admits(client, path, Instant::now()))
    }

    /// Removes what was made of a source that is gone: nobody shall find private pictures of deleted objects.
    pub(crate) fn forget(&self, version: Version) {
        self.cache.forget(version);
    }

    /// The picture: kept, or made from what `source` reads.
    ///
    /// # Errors
    /// What `source` says; `Unrenderable`, `RenderTimeout`, `RenderOverload`.
    pub(super) async fn picture(
        &self,
        order: Order,
        source: impl AsyncFnOnce() -> Result<Vec<u8>, StorageError>,
    ) -> Result<Picture, StorageError> {
        if let Some(picture) = self.kept(&order.key).await? {
            return Ok(picture);
        }
        let _waiting = Waiting::begin(&self.waiting).ok_or(StorageError::RenderOverload)?;
        let same = self.same(&order.key);
        let _first = timeout(PATIENCE * 2, same.lock())
            .await
            .map_err(|_| StorageError::RenderOverload)?;
        if let Some(picture) = self.kept(&order.key).await? {
            return Ok(picture);
        }
        let turn = self.turn(&self.turns, 1).await?;
        let source = source().await?;
        self.make(turn, order, source).await
    }

    async fn make(
        &self,
        turn: OwnedSemaphorePermit,
        order: Order,
        source: Vec<u8>,
    ) -> Result<Picture, StorageError> {
        let measuring = spawn_blocking(move || (picture::measure(&source), source));
        let (measured, source) = measuring.await.map_err(StorageError::internal)?;
        let measured = measured.map_err(refuse)?;
        let mebibytes = u32::try_from(measured.cost_bytes >> 20).unwrap_or(u32::MAX);
        let memory = self
            .turn(&self.memory, mebibytes.clamp(1, PIXEL_MEMORY_MIB))
            .await?;
        let cache = Arc::clone(&self.cache);
        let deadline = Instant::now() + PATIENCE;
        let rendering = spawn_blocking(move || {
            // Held until the work has really ended, whoever still waits for it.
            let _held = (turn, memory);
            let picture = picture::render(&source, measured, &order.transform, order.output, deadline)?;
            cache.put(&order.key, &picture);
            Ok(picture)
        });
        timeout(PATIENCE, rendering)
            .await
            .map_err(|_| StorageError::RenderTimeout)?
            // A decoder that panics has met a source that it should have refused.
            .map_err(|_| refuse(Unrenderable::Invalid))?
            .map_err(refuse)
    }

    async fn kept(&self, key: &Key) -> Result<Option<Picture>, StorageError> {
        let (cache, key) = (Arc::clone(&self.cache), key.clone());
        spawn_blocking(move || cache.get(&key))
            .await
            .map_err(StorageError::internal)
    }

    async fn turn(&self, at: &Arc<Semaphore>, size: u32) -> Result<OwnedSemaphorePermit, StorageError> {
        timeout(PATIENCE, Arc::clone(at).acquire_many_owned(size))
            .await
            .map_err(|_| StorageError::RenderOverload)?
            .map_err(StorageError::internal)
    }

    /// What all requests for one picture share.
    fn same(&self, key: &Key) -> Arc<AsyncMutex<()>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.retain(|_, shared| shared.strong_count() > 0);
        if let Some(shared) = under_way.get(key).and_then(Weak::upgrade) {
            return shared;
        }
        let shared = Arc::new(AsyncMutex::new(()));
        under_way.insert(key.clone(), Arc::downgrade(&shared));
        shared
    }
}

fn refuse(reason: Unrenderable) -> StorageError {
    match reason {
        Unrenderable::TooLarge => {
            StorageError::Unrenderable("The source image resolution is too large to process")
        }
        Unrenderable::Invalid => {
            StorageError::Unrenderable("The source image is invalid or unsupported for rendering")
        }
        Unrenderable::OutOfTime => StorageError::RenderTimeout,
    }
}

/// One of the requests that wait.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(count: &'a AtomicUsize) -> Option<Self> {
        let before = count.fetch_add(1, Ordering::Relaxed);
        let waiting = Self(count);
        (before < QUEUE).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(recipe: &str) -> Order {
        Order {
            key: Key::new(Version::fresh(), recipe),
            transform: Transform::default(),
            output: Output::Webp,
        }
    }

    fn png() -> Vec<u8> {
        let mut bytes = Vec::new();
        image::RgbImage::new(40, 30)
            .write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::Png)
            .expect("encodes");
        bytes
    }

    #[actix_web::test]
    async fn store_093_a_hundred_equal_requests_render_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let renderer = Renderer::open(folder.path(), 1 << 20, None).expect("opens");
        let (order, made) = (order("a"), AtomicUsize::new(0));
        let request = async || {
            let source = async || {
                made.fetch_add(1, Ordering::Relaxed);
                Ok(png())
            };
            renderer.picture(order.clone(), source).await
        };

        let answers = futures_util::future::join_all((0..100).map(|_| request())).await;

        assert_eq!(made.load(Ordering::Relaxed), 1);
        let first = answers[0].as_ref().expect("a picture");
        assert!(
            answers
                .iter()
                .all(|answer| answer.as_ref().is_ok_and(|picture| picture == first))
        );
        assert!(renderer.under_way.lock().expect("nobody panicked").len() <= 1);
    }

    #[actix_web::test]
    async fn store_093_a_rendering_that_fails_lets_the_next_request_try() {
        let folder = tempfile::tempdir().expect("a folder");
        let renderer = Renderer::open(folder.path(), 1 << 20, None).expect("opens");
        let order = order("a");

        let failed = renderer
            .picture(order.clone(), async || Err(StorageError::BlobMissing))
            .await;
        let made = renderer.picture(order, async || Ok(png())).await;

        assert!(matches!(failed, Err(StorageError::BlobMissing)));
        assert!(made.is_ok());
    }
}
