//! Renders images off the event loops: as many at a time as there are cores, in bounded memory and time.
//!
//! Requests for the same image share one rendering. A client that disconnects stops waiting; a rendering that has begun
//! is finished and cached for the next request.
//!
//! Large pictures never take the last core and have memory of their own, so that small ones are rendered beside them. Clients
//! take turns with large ones.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::cache::{RenderCache, RenderKey};
use super::output::Output;
use super::png_chunks::prepare_png;
use super::rate_limit::RateLimit;
use super::rendered_image::{Deadline, RenderError, RenderedImage};
use super::source::{MAX_COST_BYTES, SourceInfo, inspect_source};
use super::transform::Transform;
use super::transform_image::transform_image;
use super::waiting::Waiting;
use crate::backend::Version;
use crate::error::StorageError;

/// How long one rendering may take, and how long a request waits for a free core or for memory.
const RENDER_TIMEOUT: Duration = Duration::from_secs(15);
/// Most memory for pixels, in MiB: enough for the dearest source once.
const MOST_PIXEL_MEMORY_MIB: u32 = (MAX_COST_BYTES / (1 << 20)) as u32 + 1;
/// Most memory that is kept for small pictures, in MiB. Of less memory it is an eighth.
const MOST_SMALL_MEMORY_MIB: u32 = 32;
/// A picture is small up to this memory for its pixels, in MiB: in most formats about 2.5 million pixels.
const SMALL_MIB: u32 = 16;
/// Bytes for each pixel of the result: resized, with converted colours, and as the encoder keeps it.
const OUTPUT_BYTES_PER_PIXEL: u64 = 12;

/// The renderer of this process: cache, limits, and which renderings are under way.
pub(crate) struct Renderer {
    cache: Arc<RenderCache>,
    /// One more than there are cores, so that one is left where large pictures have taken theirs.
    cores: Arc<Semaphore>,
    /// As many large pictures at a time as there are cores.
    large: Arc<Semaphore>,
    /// Memory for large pictures, one permit for each MiB.
    memory: Arc<Semaphore>,
    /// All permits of `memory`.
    memory_mib: u32,
    /// Memory for small pictures, one permit for each MiB.
    small_memory: Arc<Semaphore>,
    /// Up to which memory a picture is small, in MiB.
    small_mib: u32,
    waiting: Waiting,
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

/// A source that was read and may be decoded, and the memory that it takes.
struct AcceptedSource {
    bytes: Vec<u8>,
    info: SourceInfo,
    mebibytes: u32,
}

/// Permission to render a large picture.
struct LargeTurn {
    _turn: OwnedSemaphorePermit,
    memory: OwnedSemaphorePermit,
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
        let small_memory_mib = (memory_mib / 8).clamp(1, MOST_SMALL_MEMORY_MIB);
        let memory_mib = memory_mib
            .saturating_sub(small_memory_mib)
            .clamp(1, MOST_PIXEL_MEMORY_MIB);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let cores = cores.min(16);
        Ok(Self {
            cache: Arc::new(RenderCache::open(folder, limit_bytes)?),
            cores: Arc::new(Semaphore::new(cores + 1)),
            large: Arc::new(Semaphore::new(cores)),
            memory: Arc::new(Semaphore::new(memory_mib as usize)),
            memory_mib,
            small_memory: Arc::new(Semaphore::new(small_memory_mib as usize)),
            small_mib: small_memory_mib.min(SMALL_MIB),
            waiting: Waiting::default(),
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

    /// Removes all images that are kept.
    pub(crate) fn clear(&self) {
        self.cache.clear();
    }

    /// The image of a job: from the cache, or rendered from what `source` reads, for a client or for the server itself. A large
    /// source is read again when it had to wait.
    ///
    /// # Errors
    /// The error of `source`; `Unrenderable`, `RenderTimeout`, `RenderOverload`.
    pub(super) async fn get_or_render(
        &self,
        job: RenderJob,
        client: Option<IpAddr>,
        source: impl AsyncFn() -> Result<Vec<u8>, StorageError>,
    ) -> Result<RenderedImage, StorageError> {
        if let Some(image) = self.find_cached(&job.key).await? {
            return Ok(image);
        }
        // Registered after the first look into the cache, so that cached images are served even under overload.
        let _waiting = self
            .waiting
            .register(client)
            .ok_or(StorageError::RenderOverload)?;
        let same = self.lock_of(&job.key);
        // Twice the limit, because the request ahead may wait for a core first and then render.
        let _first = timeout(RENDER_TIMEOUT * 2, same.lock())
            .await
            .map_err(|_| StorageError::RenderOverload)?;
        if let Some(image) = self.find_cached(&job.key).await? {
            return Ok(image);
        }
        let mut turn: Option<LargeTurn> = None;
        loop {
            // The core is acquired before the source is read, so that at most one source per core is in memory.
            let core = self.acquire(&self.cores, 1).await?;
            let accepted = inspect(source().await?, &job.transform).await?;
            let mebibytes = accepted.mebibytes;
            if mebibytes <= self.small_mib {
                let memory = self.acquire(&self.small_memory, mebibytes).await?;
                return self.render((core, memory, None), job, accepted).await;
            }
            if mebibytes > self.memory_mib {
                return Err(map_render_error(RenderError::TooLarge));
            }
            if let Some(LargeTurn { memory, _turn }) = turn.take().or_else(|| self.try_large_turn(mebibytes))
            {
                return self.render((core, memory, Some(_turn)), job, accepted).await;
            }
            // Neither a core nor the bytes are kept while others render large pictures.
            drop((core, accepted));
            turn = Some(self.wait_for_large_turn(client, mebibytes).await?);
        }
    }

    /// Permission to render a large picture, if nobody is ahead.
    fn try_large_turn(&self, mebibytes: u32) -> Option<LargeTurn> {
        Some(LargeTurn {
            _turn: Arc::clone(&self.large).try_acquire_owned().ok()?,
            memory: Arc::clone(&self.memory).try_acquire_many_owned(mebibytes).ok()?,
        })
    }

    /// Waits for permission to render a large picture. Each client stands in the line once.
    async fn wait_for_large_turn(
        &self,
        client: Option<IpAddr>,
        mebibytes: u32,
    ) -> Result<LargeTurn, StorageError> {
        let place = client.map(|client| self.waiting.place_of(client));
        let _place = match &place {
            None => None,
            Some(place) => Some(
                timeout(RENDER_TIMEOUT, place.lock())
                    .await
                    .map_err(|_| StorageError::RenderOverload)?,
            ),
        };
        Ok(LargeTurn {
            _turn: self.acquire(&self.large, 1).await?,
            memory: self.acquire(&self.memory, mebibytes).await?,
        })
    }

    async fn render(
        &self,
        permits: (
            OwnedSemaphorePermit,
            OwnedSemaphorePermit,
            Option<OwnedSemaphorePermit>,
        ),
        job: RenderJob,
        source: AcceptedSource,
    ) -> Result<RenderedImage, StorageError> {
        let cache = Arc::clone(&self.cache);
        let deadline = Deadline(Instant::now() + RENDER_TIMEOUT);
        let rendering = spawn_blocking(move || {
            // The permits are held until the work ends, also when the request has given up waiting.
            let _held = permits;
            let image = transform_image(&source.bytes, source.info, &job.transform, job.output, deadline)?;
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

/// Looks at a source before any pixel is decoded, and reckons the memory of its rendering.
///
/// # Errors
/// `Unrenderable`.
async fn inspect(mut source: Vec<u8>, transform: &Transform) -> Result<AcceptedSource, StorageError> {
    let inspection = spawn_blocking(move || {
        prepare_png(&mut source);
        (inspect_source(&source), source)
    });
    let (info, bytes) = inspection.await.map_err(StorageError::internal)?;
    let info = info.map_err(map_render_error)?;
    let output_bytes = transform.most_pixels(info.pixels) * OUTPUT_BYTES_PER_PIXEL;
    let mebibytes = u32::try_from((info.decoding_bytes + output_bytes) >> 20).unwrap_or(u32::MAX);
    Ok(AcceptedSource {
        bytes,
        info,
        // The dearest source and its result together may take a little more than the most that there can be.
        mebibytes: mebibytes.clamp(1, MOST_PIXEL_MEMORY_MIB),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

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
            renderer.get_or_render(job.clone(), None, source).await
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
            .get_or_render(job.clone(), None, async || Err(StorageError::BlobMissing))
            .await;
        let made = renderer.get_or_render(job, None, async || Ok(png())).await;

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

        let small = renderer.get_or_render(job("a"), None, async || Ok(png())).await;
        let refused = renderer
            .get_or_render(job("b"), None, async || Ok(large.clone()))
            .await;

        assert!(small.is_ok());
        assert!(matches!(refused, Err(StorageError::Unrenderable(_))));
    }

    /// A PNG of 3.2 million pixels, which is large; larger ones may take a debug build beside other tests longer than the time limit.
    fn large_png() -> Vec<u8> {
        let mut bytes = Vec::new();
        image::RgbImage::new(1800, 1800)
            .write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::Png)
            .expect("encodes");
        bytes
    }

    #[actix_web::test]
    async fn store_103_small_pictures_are_rendered_while_large_ones_have_all_turns() {
        let folder = tempfile::tempdir().expect("a folder");
        let renderer = Renderer::open(folder.path(), 1 << 20, u64::MAX, None).expect("opens");
        let turns = renderer.large.available_permits();
        let cores = u32::try_from(turns).expect("few");
        // All large pictures that may be rendered at a time: their turns, cores and memory.
        let held = (
            renderer.acquire(&renderer.large, cores).await.expect("free"),
            renderer.acquire(&renderer.cores, cores).await.expect("free"),
            renderer
                .acquire(&renderer.memory, renderer.memory_mib)
                .await
                .expect("free"),
        );
        let large = large_png();
        let client = |n: u8| Some(IpAddr::from([192, 0, 2, n]));
        let reads = std::cell::Cell::new(0);
        let ask_large = async |key: &str, client| {
            let source = async || {
                reads.set(reads.get() + 1);
                Ok(large.clone())
            };
            renderer.get_or_render(job(key), client, source).await
        };

        let small = async {
            // The large ones wait by now.
            while reads.get() < 3 {
                tokio::task::yield_now().await;
            }
            let image = renderer
                .get_or_render(job("s"), client(1), async || Ok(png()))
                .await;
            drop(held);
            image
        };
        let (small, a, b, c) = tokio::join!(
            small,
            ask_large("a", client(1)),
            ask_large("b", client(1)),
            ask_large("c", client(2))
        );

        assert!(small.is_ok());
        assert!(a.is_ok() && b.is_ok() && c.is_ok());
        assert_eq!(renderer.large.available_permits(), turns);
    }

    #[actix_web::test]
    async fn store_103_clients_take_turns_with_large_pictures() {
        let folder = tempfile::tempdir().expect("a folder");
        let renderer = Renderer::open(folder.path(), 1 << 20, u64::MAX, None).expect("opens");
        let client = |n: u8| Some(IpAddr::from([192, 0, 2, n]));
        let all = renderer.large.available_permits();
        renderer.large.forget_permits(all);
        let order = Mutex::new(Vec::new());
        let wait = async |name: &'static str, client| {
            let turn = renderer.wait_for_large_turn(client, 20).await;
            order.lock().expect("nobody panicked").push(name);
            turn
        };

        let (a1, a2, a3, b, ()) = tokio::join!(
            wait("a1", client(1)),
            wait("a2", client(1)),
            wait("a3", client(1)),
            wait("b", client(2)),
            async {
                // One turn after the other becomes free, as renderings end.
                for turns in 1..=4 {
                    renderer.large.add_permits(1);
                    while order.lock().expect("nobody panicked").len() < turns {
                        tokio::task::yield_now().await;
                    }
                }
            }
        );

        assert!(a1.is_ok() && a2.is_ok() && a3.is_ok() && b.is_ok());
        let order = order.lock().expect("nobody panicked");
        let place = |name: &str| order.iter().position(|known| *known == name).expect("it came");
        assert!(place("b") <= 1, "{order:?}");
    }
}
