//! State of the service, its mounting, and the table that says which file answers which route.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse, web};
use deadpool_postgres::Pool;
use selvedge_postgres::{Database, Login, RequestPool};
use selvedge_token::KeyRing;

use crate::backend::{Backend, FileBackend, S3Backend, Version};
use crate::config::StorageConfig;
use crate::error::StorageError;
use crate::identity::Identity;
use crate::janitor::Janitor;
use crate::query::Query;
use crate::render::{self, Renderer};
use crate::route::Route;
use crate::session::{RequestFacts, Session};
use crate::tus::{self, Writers};
use crate::{bucket, object, operational, s3};

/// What all workers share: settings, keys, the store of blobs. One per process.
pub struct Storage {
    config: StorageConfig,
    database: Arc<Database>,
    transactions: Pool,
    keys: Arc<KeyRing>,
    backend: Arc<dyn Backend>,
    janitor: Janitor,
    writers: Writers,
    renderer: Option<Renderer>,
    swept: AtomicBool,
}

impl Storage {
    /// Opens the store of blobs.
    ///
    /// # Errors
    /// When its folder cannot be created or read.
    pub fn open(config: StorageConfig, database: Arc<Database>, keys: Arc<KeyRing>) -> io::Result<Self> {
        let backend: Arc<dyn Backend> = match &config.s3_backend {
            Some(s3) => Arc::new(S3Backend::open(s3.clone())?),
            None => Arc::new(FileBackend::open(&config.root)?),
        };
        let janitor = Janitor::start(Arc::clone(&backend))?;
        let transactions = database.pool(Login::Authenticator, config.transaction_pool_size);
        let renderer = config
            .image_transformation
            .then(|| {
                let folder = config.root.join("renders");
                Renderer::open(&folder, config.render_cache_bytes, config.render_rate_limit)
            })
            .transpose()?;
        Ok(Self {
            config,
            database,
            transactions,
            keys,
            backend,
            janitor,
            writers: Writers::default(),
            renderer,
            swept: AtomicBool::new(false),
        })
    }

    pub(crate) fn config(&self) -> &StorageConfig {
        &self.config
    }

    pub(crate) fn database(&self) -> &Arc<Database> {
        &self.database
    }

    pub(crate) fn transactions(&self) -> &Pool {
        &self.transactions
    }

    /// A connection for a sweep, which takes long.
    pub(crate) fn sweeper_pool(&self) -> Pool {
        self.database.pool(Login::Authenticator, 1)
    }

    pub(crate) fn keys(&self) -> &Arc<KeyRing> {
        &self.keys
    }

    /// What renders pictures, where that is switched on.
    pub(crate) fn renderer(&self) -> Option<&Renderer> {
        self.renderer.as_ref()
    }

    /// Who works on which resumable upload.
    pub(crate) fn writers(&self) -> &Writers {
        &self.writers
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// Removes a blob that no row refers to, in the background.
    pub(crate) fn discard(&self, version: Version) {
        self.janitor.discard(version);
        if let Some(renderer) = &self.renderer {
            renderer.forget(version);
        }
    }
}

/// The service as one worker thread has it: the shared state and that thread's database connections.
#[derive(Clone)]
pub struct StorageWorker {
    storage: Arc<Storage>,
    requests: RequestPool,
}

impl StorageWorker {
    /// Joins the shared state with a worker's connections.
    pub fn new(storage: Arc<Storage>, requests: RequestPool) -> Self {
        Self { storage, requests }
    }

    pub(crate) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    pub(crate) fn requests(&self) -> &RequestPool {
        &self.requests
    }
}

/// Mounts the service inside the scope of its prefix.
pub fn configure(worker: StorageWorker) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config: &mut web::ServiceConfig| {
        // One worker of a process is enough.
        if !worker.storage.swept.swap(true, Ordering::Relaxed) {
            actix_web::rt::spawn(tus::sweep_forever(worker.clone()));
        }
        config
            .app_data(web::Data::new(worker))
            .service(web::resource("{path:.*}").to(serve));
    }
}

/// One HTTP request on its way through the service.
pub(crate) struct Call {
    pub(crate) request: HttpRequest,
    pub(crate) query: Query,
    pub(crate) worker: StorageWorker,
    facts: Rc<RequestFacts>,
}

impl Call {
    pub(crate) fn new(worker: StorageWorker, request: HttpRequest, operation: &'static str) -> Self {
        let facts = Rc::new(RequestFacts::of(request.clone(), operation));
        let query = Query::parse(request.query_string());
        Self {
            request,
            query,
            worker,
            facts,
        }
    }

    /// A session under the caller's role.
    ///
    /// # Errors
    /// When the caller sent no token, or a bad one.
    pub(crate) fn caller(&self) -> Result<Session, StorageError> {
        Ok(self.session(Identity::required(&self.request)?))
    }

    /// A session of somebody whom another protocol has identified.
    pub(crate) fn session_of(&self, identity: Identity) -> Session {
        self.session(identity)
    }

    /// A session under the caller's role, `None` for an unauthenticated one.
    pub(crate) fn optional_caller(&self) -> Option<Session> {
        Identity::optional(&self.request).map(|identity| self.session(identity))
    }

    /// A session as the service itself.
    pub(crate) fn service(&self) -> Session {
        self.session(Identity::service())
    }

    fn session(&self, identity: Identity) -> Session {
        Session::new(self.worker.clone(), Rc::clone(&self.facts), identity)
    }

    /// The shared state.
    pub(crate) fn storage(&self) -> &Storage {
        self.worker.storage()
    }

    /// A request header as text; what is not text counts as absent.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    }

    /// Whether only the head of the answer is wanted.
    pub(crate) fn is_head(&self) -> bool {
        self.request.method() == Method::HEAD
    }
}

/// Answers one request.
async fn serve(
    worker: web::Data<StorageWorker>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let worker = StorageWorker::clone(&worker);
    let raw_path = request.uri().path().to_owned();
    let path = raw_path
        .strip_prefix(worker.storage().config().mount_path.as_str())
        .unwrap_or(&raw_path);
    let route = Route::parse(request.method(), path)?;
    let head = request.method() == Method::HEAD;
    let call = |operation| Call::new(worker.clone(), request.clone(), operation);
    match route {
        Route::ListBuckets => bucket::list_buckets(&call("storage.bucket.list")).await,
        Route::CreateBucket => bucket::create_bucket(&call("storage.bucket.create"), payload).await,
        Route::GetBucket(id) => bucket::get_bucket(&call("storage.bucket.get"), &id).await,
        Route::UpdateBucket(id) => bucket::update_bucket(&call("storage.bucket.update"), &id, payload).await,
        Route::DeleteBucket(id) => bucket::delete_bucket(&call("storage.bucket.delete"), &id, payload).await,
        Route::EmptyBucket(id) => bucket::empty_bucket(&call("storage.bucket.empty"), &id, payload).await,

        Route::Upload(target) => object::upload(&call("storage.object.upload"), target, payload).await,
        Route::UploadUpdate(target) => {
            object::update(&call("storage.object.upload_update"), target, payload).await
        }
        Route::SignUpload(target) => {
            object::sign_upload(&call("storage.object.sign_upload_url"), target).await
        }
        Route::UploadSigned(target) => {
            object::upload_signed(&call("storage.object.upload_signed"), target, payload).await
        }

        Route::GetPublic(target) => object::get_public(&call("storage.object.get_public"), &target).await,
        Route::GetSigned(target) => object::get_signed(&call("storage.object.get_signed"), &target).await,
        // Compat: HEAD and info of these routes keep their older operation names.
        Route::GetAuthenticated(target) if head => {
            object::get_authenticated(&call("object.head_authenticated_info"), &target).await
        }
        Route::GetAuthenticated(target) => {
            object::get_authenticated(&call("storage.object.get_authenticated"), &target).await
        }
        Route::GetObject(target) if head => {
            object::get_object(&call("object.head_authenticated_info"), &target).await
        }
        Route::GetObject(target) => {
            object::get_object(&call("storage.object.get_authenticated"), &target).await
        }
        Route::Info(target) => object::info(&call("object.get_authenticated_info"), &target).await,
        Route::InfoAuthenticated(target) => {
            object::info_authenticated(&call("object.get_authenticated_info"), &target).await
        }
        Route::InfoPublic(target) => object::info_public(&call("storage.object.info_public"), &target).await,

        Route::List(bucket) => object::list(&call("storage.object.list"), &bucket, payload).await,
        Route::ListV2(bucket) => object::list_v2(&call("storage.object.list_v2"), &bucket, payload).await,
        Route::DeleteObject(target) => {
            object::delete_one(&call("storage.object.delete"), &target, payload).await
        }
        Route::DeleteObjects(bucket) => {
            object::delete_many(&call("storage.object.delete_many"), &bucket, payload).await
        }
        Route::MoveObject => object::move_object(&call("storage.object.move"), payload).await,
        Route::CopyObject => object::copy_object(&call("storage.object.copy"), payload).await,
        Route::Sign(target) => object::sign(&call("storage.object.sign"), &target, payload).await,
        Route::SignMany(bucket) => {
            object::sign_many(&call("storage.object.sign_many"), &bucket, payload).await
        }

        Route::PurgeCache(scope) => operational::purge_cache(&call("storage.cdn.purge_object_cache"), &scope),
        Route::Status => Ok(operational::status()),
        Route::Version => Ok(operational::version()),
        Route::Health => operational::health(&call("storage.health")).await,
        Route::Resumable(upload) => tus::serve(worker.clone(), request.clone(), payload, upload).await,
        Route::RenderPublic(_) | Route::RenderAuthenticated(_) | Route::RenderSigned(_)
            if worker.storage().renderer().is_none() =>
        {
            Err(StorageError::RouteNotFound {
                method: request.method().to_string(),
                path: path.to_owned(),
            })
        }
        Route::RenderPublic(target) => render::public(&call("storage.render.image_public"), &target).await,
        Route::RenderAuthenticated(target) => {
            render::authenticated(&call("storage.render.image_authenticated"), &target).await
        }
        Route::RenderSigned(target) => render::signed(&call("storage.render.image_sign"), &target).await,
        Route::S3 => Ok(s3::serve(worker, request, payload, path).await),
    }
}
