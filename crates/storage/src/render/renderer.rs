//! Renders images off the event loops: as many at a time as there are cores, in bounded memory and time.
//!
//! Requests for the same image share one rendering. A client that disconnects stops waiting; a rendering that has begun
//! is finished and cached for the next request.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::cache::{RenderCache, RenderKey};
use super::output::Output;
use super::png_checksums::correct_png_checksums;
use super::rate_limit::RateLimit;
use super::rendered_image::{Deadline, RenderError, RenderedImage};
use super::source::{MAX_COST_BYTES, inspect_source};
use super::transform::Transform;
use super::transform_image::transform_image;
use crate::backend::Version;
use crate::error::StorageError;

/// How long one rendering may take, and how long a request waits for a free core or for memory.
const RENDER_TIMEOUT: Duration = Duration::from_secs(15);
/// How many requests may wait; further ones are refused immediately.
const MAX_WAITING: usize = 256;
/// Most memory for pixels, in MiB: enough for the dearest source once.
const MOST_PIXEL_MEMORY_MIB: u32 = (MAX_COST_BYTES / (1 << 20)) as u32 + 1;
/// Bytes for each pixel of the result: resized, with converted colours, and as the encoder keeps it.
const OUTPUT_BYTES_PER_PIXEL: u64 = 12;

/// The renderer of this process: cache, limits, and which renderings are under way.
pub(crate) struct Renderer {
    cache: Arc<RenderCache>,
    cores: Arc<Semaphore>,
    memory: Arc<Semaphore>,
    /// All permits of `memory`, in MiB.
    memory_mib: u32,
    waiting: AtomicUsize,
    under_way: Mutex<HashMap<RenderKey, Weak<AsyncMutex<()>>>>,
    rate: Option<RateLimit>,
}

/// A rendering job: source and transformation, and the key under which the result is cached.
#[derive(Debug, Clone)]
pub(super) struct RenderJob {
    pub(super) key: RenderKey,
    pub(super) transform: Transform,
    pub(super) output: Output,
}

impl Renderer {
    /// A renderer with its cache in `folder`, that lets a client request one path `per_second` times a second, and whose pixels take
    /// at most `memory_bytes`. A source that alone would take more is refused.
    ///
    /// # Errors
    /// When the folder cannot be created or read.
    pub(crate) fn open(
        folder: &Path,
        limit_bytes: u64,
        memory_bytes: u64,
        per_second: Option<u32>,
    ) -> std::io::Result<Self> {
        let memory_mib = u32::try_from(memory_bytes >> 20).unwrap_or(u32::MAX);
        let memory_mib = memory_mib.clamp(1, MOST_PIXEL_MEMORY_MIB);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Ok(Self {
            cache: Arc::new(RenderCache::open(folder, limit_bytes)?),
            cores: Arc::new(Semaphore::new(cores.min(16))),
            memory: Arc::new(Semaphore::new(memory_mib as usize)),
            memory_mib,
            waiting: AtomicUsize::new(0),
            under_way: Mutex::new(HashMap::new()),
            rate: per_second.map(RateLimit::new),
        })
    }

    /// Counts a client's request for a path, and returns whether it is within the rate limit.
    pub(super) fn try_acquire(&self, client: IpAddr, path: &str) -> bool {
        self.rate
            .as_ref()
            .is_none_or(|rate| rate.try_acquire(client, path, Instant::now()))
    }

    /// Removes the images rendered from a source, so that no copy of a deleted private object stays on disk.
    pub(crate) fn forget_source(&self, version: Version) {
        self.cache.remove_source(version);
    }

    /// The image of a job: from the cache, or rendered from what `source` reads.
    ///
    /// # Errors
    /// The error of `source`; `Unrenderable`, `RenderTimeout`, `RenderOverload`.
    pub(super) async fn get_or_render(
        &self,
        job: RenderJob,
        source: impl AsyncFnOnce() -> Result<Vec<u8>, StorageError>,
    ) -> Result<RenderedImage, StorageError> {
        if let Some(image) = self.find_cached(&job.key).await? {
            return Ok(image);
        }
        // Registered after the first look into the cache, so that cached images are served even under overload.
        let _waiting = WaitingRequest::register(&self.waiting).ok_or(StorageError::RenderOverload)?;
        let same = self.lock_of(&job.key);
        // Twice the limit, because the request ahead may wait for a core first and then render.
        let _first = timeout(RENDER_TIMEOUT * 2, same.lock())
            .await
            .map_err(|_| StorageError::RenderOverload)?;
        if let Some(image) = self.find_cached(&job.key).await? {
            return Ok(image);
        }
        // The core is acquired before the source is read, so that at most one source per core is in memory.
        let core = self.acquire(&self.cores, 1).await?;
        let source = source().await?;
        self.render(core, job, source).await
    }

    async fn render(
        &self,
        core: OwnedSemaphorePermit,
        job: RenderJob,
        mut source: Vec<u8>,
    ) -> Result<RenderedImage, StorageError> {
        let inspection = spawn_blocking(move || {
            correct_png_checksums(&mut source);
            (inspect_source(&source), source)
        });
        let (info, source) = inspection.await.map_err(StorageError::internal)?;
        let info = info.map_err(map_render_error)?;
        let output_bytes = job.transform.most_pixels(info.pixels) * OUTPUT_BYTES_PER_PIXEL;
        let mebibytes = u32::try_from((info.decoding_bytes + output_bytes) >> 20).unwrap_or(u32::MAX);
        // The dearest source and its result together may take a little more than the most that there can be.
        let mebibytes = mebibytes.clamp(1, MOST_PIXEL_MEMORY_MIB);
        if mebibytes > self.memory_mib {
            return Err(map_render_error(RenderError::TooLarge));
        }
        let memory = self.acquire(&self.memory, mebibytes).await?;
        let cache = Arc::clone(&self.cache);
        let deadline = Deadline(Instant::now() + RENDER_TIMEOUT);
        let rendering = spawn_blocking(move || {
            // The permits are held until the work ends, also when the request has given up waiting.
            let _held = (core, memory);
            let image = transform_image(&source, info, &job.transform, job.output, deadline)?;
            cache.put(&job.key, &image);
            Ok(image)
        });
        timeout(RENDER_TIMEOUT, rendering)
            .await
            .map_err(|_| StorageError::RenderTimeout)?
            // A panic of a decoder is caught by the pool: it met a corrupt source that it should have refused.
            .map_err(|_| map_render_error(RenderError::Invalid))?
            .map_err(map_render_error)
    }

    async fn find_cached(&self, key: &RenderKey) -> Result<Option<RenderedImage>, StorageError> {
        let (cache, key) = (Arc::clone(&self.cache), key.clone());
        spawn_blocking(move || cache.get(&key))
            .await
            .map_err(StorageError::internal)
    }

    /// Waits for permits, at most [`RENDER_TIMEOUT`].
    async fn acquire(&self, from: &Arc<Semaphore>, size: u32) -> Result<OwnedSemaphorePermit, StorageError> {
        timeout(RENDER_TIMEOUT, Arc::clone(from).acquire_many_owned(size))
            .await
            .map_err(|_| StorageError::RenderOverload)?
            .map_err(StorageError::internal)
    }

    /// The lock that all requests for one image share: the first renders, the others find its result in the cache.
    fn lock_of(&self, key: &RenderKey) -> Arc<AsyncMutex<()>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        // Entries without waiting requests are removed here, because no request removes its own.
        under_way.retain(|_, shared| shared.strong_count() > 0);
        if let Some(shared) = under_way.get(key).and_then(Weak::upgrade) {
            return shared;
        }
        let shared = Arc::new(AsyncMutex::new(()));
        under_way.insert(key.clone(), Arc::downgrade(&shared));
        shared
    }
}

fn map_render_error(reason: RenderError) -> StorageError {
    match reason {
        RenderError::TooLarge => {
            StorageError::Unrenderable("The source image resolution is too large to process")
        }
        RenderError::Invalid => {
            StorageError::Unrenderable("The source image is invalid or unsupported for rendering")
        }
        RenderError::OutOfTime => StorageError::RenderTimeout,
    }
}

/// A request that is counted as waiting; no longer counted when dropped.
struct WaitingRequest<'a>(&'a AtomicUsize);

impl<'a> WaitingRequest<'a> {
    fn register(count: &'a AtomicUsize) -> Option<Self> {
        let before = count.fetch_add(1, Ordering::Relaxed);
        let waiting = Self(count);
        (before < MAX_WAITING).then_some(waiting)
    }
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(recipe: &str) -> RenderJob {
        RenderJob {
            key: RenderKey::new(Version::fresh(), recipe),
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
    async fn store_093_a_hundred_requests_for_one_image_render_it_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let renderer = Renderer::open(folder.path(), 1 << 20, u64::MAX, None).expect("opens");
        let (job, made) = (job("a"), AtomicUsize::new(0));
        let request = async || {
            let source = async || {
                made.fetch_add(1, Ordering::Relaxed);
                Ok(png())
            };
            renderer.get_or_render(job.clone(), source).await
        };

        let responses = futures_util::future::join_all((0..100).map(|_| request())).await;

        assert_eq!(made.load(Ordering::Relaxed), 1);
        let first = responses[0].as_ref().expect("an image");
        assert!(
            responses
                .iter()
                .all(|response| response.as_ref().is_ok_and(|image| image == first))
        );
        assert!(renderer.under_way.lock().expect("nobody panicked").len() <= 1);
    }

    #[actix_web::test]
    async fn store_093_a_failed_rendering_is_tried_again_by_the_next_request() {
        let folder = tempfile::tempdir().expect("a folder");
        let renderer = Renderer::open(folder.path(), 1 << 20, u64::MAX, None).expect("opens");
        let job = job("a");

        let failed = renderer
            .get_or_render(job.clone(), async || Err(StorageError::BlobMissing))
            .await;
        let made = renderer.get_or_render(job, async || Ok(png())).await;

        assert!(matches!(failed, Err(StorageError::BlobMissing)));
        assert!(made.is_ok());
    }

    #[actix_web::test]
    async fn store_093_an_image_that_needs_more_memory_than_there_is_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let renderer = Renderer::open(folder.path(), 1 << 20, 2 << 20, None).expect("opens");
        let mut large = Vec::new();
        image::RgbImage::new(1000, 1000)
            .write_to(&mut std::io::Cursor::new(&mut large), image::ImageFormat::Png)
            .expect("encodes");

        let small = renderer.get_or_render(job("a"), async || Ok(png())).await;
        let refused = renderer.get_or_render(job("b"), async || Ok(large)).await;

        assert!(small.is_ok());
        assert!(matches!(refused, Err(StorageError::Unrenderable(_))));
    }
}
