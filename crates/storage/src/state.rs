//! State that all requests share: settings, keys, database pools and the store of blobs. Built once per process by the
//! server; each worker thread holds it together with its own database connections ([`StorageWorker`]).

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::Pool;
use selvedge_postgres::{Database, DiskState, Login, ReplicaPools, RequestPool};
use selvedge_token::KeyRing;
use tokio::sync::Semaphore;

use crate::backend::blob_deleter::BlobDeleter;
use crate::backend::{Backend, BackendResult, BlobWriter, Content, StoreOwnership, Version, create_guarded};
use crate::config::StorageConfig;
use crate::error::StorageError;
use crate::identity::missing_header_as_empty_token;
use crate::render::Renderer;
use crate::tus::UploadLocks;

/// Most bytes of files that all forms together hold in memory until the fields behind the files are read.
const FORM_MEMORY_BYTES: usize = 64 * 1024 * 1024;

/// State that all workers share: settings, keys, the store of blobs. One per process.
pub struct Storage {
    config: StorageConfig,
    database: Arc<Database>,
    transactions: Pool,
    keys: Arc<KeyRing>,
    backend: Arc<dyn Backend>,
    ownership: Arc<StoreOwnership>,
    blob_deleter: BlobDeleter,
    upload_locks: UploadLocks,
    form_memory: Arc<Semaphore>,
    renderer: Option<Renderer>,
    expiry_is_running: AtomicBool,
}

impl Storage {
    /// Opens the store of blobs.
    ///
    /// # Errors
    /// When its folder cannot be created or read.
    pub fn open(config: StorageConfig, database: Arc<Database>, keys: Arc<KeyRing>) -> io::Result<Self> {
        let backend = config.open_backend()?;
        let ownership = Arc::new(StoreOwnership::new(Arc::clone(&backend)));
        let blob_deleter = BlobDeleter::start(&*backend, Arc::clone(&ownership), Arc::clone(&database))?;
        let transactions = database.pool(Login::Authenticator, config.transaction_pool_size);
        let renderer = config
            .image_transformation
            .then(|| {
                // Rendered images are cached on the local disk, also when an S3 backend holds the blobs.
                let folder = config.root.join("renders");
                Renderer::open(
                    &folder,
                    config.render_cache_bytes,
                    config.render_memory_bytes,
                    config.render_rate_limit,
                )
            })
            .transpose()?;
        Ok(Self {
            config,
            database,
            transactions,
            keys,
            backend,
            ownership,
            blob_deleter,
            upload_locks: UploadLocks::default(),
            form_memory: Arc::new(Semaphore::new(FORM_MEMORY_BYTES)),
            renderer,
            expiry_is_running: AtomicBool::new(false),
        })
    }

    pub(crate) fn config(&self) -> &StorageConfig {
        &self.config
    }

    /// The error of [`Identity::required`](crate::identity::Identity::required) as clients of this installation see it.
    pub(crate) fn map_missing_token(&self, error: StorageError) -> StorageError {
        match self.config.behind_gateway {
            true => missing_header_as_empty_token(error),
            false => error,
        }
    }

    pub(crate) fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Connections for work that needs several statements in one transaction.
    pub(crate) fn transactions(&self) -> &Pool {
        &self.transactions
    }

    /// A pool of one connection for a sweep: its transaction may take minutes and must not hold one that uploads need.
    pub(crate) fn sweeper_pool(&self) -> Pool {
        self.database.pool(Login::Authenticator, 1)
    }

    pub(crate) fn keys(&self) -> &KeyRing {
        &self.keys
    }

    /// The image renderer; `None` when `image_transformation` is off.
    pub(crate) fn renderer(&self) -> Option<&Renderer> {
        self.renderer.as_ref()
    }

    /// Which resumable uploads are being written to in this process.
    pub(crate) fn upload_locks(&self) -> &UploadLocks {
        &self.upload_locks
    }

    /// Memory for the files of forms, one permit for each byte.
    pub(crate) fn form_memory(&self) -> &Arc<Semaphore> {
        &self.form_memory
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// Begins a blob of an upload, which is refused while the disk is full.
    pub(crate) async fn create_blob(&self, version: Version) -> BackendResult<Box<dyn BlobWriter>> {
        create_guarded(&*self.backend, version, self.disk()).await
    }

    /// The room on the disk of the database, where blobs may be as well.
    pub(crate) fn disk(&self) -> &DiskState {
        self.database.disk()
    }

    /// Removes all rendered images, which are made again when somebody asks for them. Blocks on the disk.
    pub fn clear_rendered(&self) {
        if let Some(renderer) = &self.renderer {
            renderer.clear();
        }
    }

    /// What is known of other databases that have their objects in the store.
    pub(crate) fn ownership(&self) -> &StoreOwnership {
        &self.ownership
    }

    /// Removes a piece of an upload that has ended, in the background.
    pub(crate) fn discard_piece(&self, version: Version) {
        self.blob_deleter.enqueue(version, Content::Piece);
    }

    /// Removes a blob unless an object refers to it, and the images rendered from it, in the background.
    pub(crate) fn discard_blob(&self, version: Version) {
        self.blob_deleter.enqueue(version, Content::Object);
        if let Some(renderer) = &self.renderer {
            renderer.forget_source(version);
        }
    }

    /// Whether the caller is the first to ask: the expiry of resumable uploads runs once per process, not per worker.
    pub(crate) fn claim_upload_expiry(&self) -> bool {
        // Relaxed, because the flag guards no other memory.
        !self.expiry_is_running.swap(true, Ordering::Relaxed)
    }
}

/// The shared state together with the database connections of one worker thread.
#[derive(Clone)]
pub struct StorageWorker {
    storage: Arc<Storage>,
    requests: RequestPool,
    replicas: Option<Rc<ReplicaPools>>,
}

impl StorageWorker {
    /// Joins the shared state with a worker's connections.
    pub fn new(storage: Arc<Storage>, requests: RequestPool) -> Self {
        Self {
            storage,
            requests,
            replicas: None,
        }
    }

    /// Allows downloads to look their rows up on replicas.
    #[must_use]
    pub fn with_replicas(mut self, replicas: Option<Rc<ReplicaPools>>) -> Self {
        self.replicas = replicas;
        self
    }

    pub(crate) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// The worker's connections for single statements, one round trip each.
    pub(crate) fn request_pool(&self) -> &RequestPool {
        &self.requests
    }

    /// Returns the worker's connections to replicas; `None` without replicas.
    pub(crate) fn replicas(&self) -> Option<&ReplicaPools> {
        self.replicas.as_deref()
    }
}
