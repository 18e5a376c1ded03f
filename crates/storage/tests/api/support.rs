//! The test harness: [`TestApp::start`] runs the service behind the real gateway, on a real PostgreSQL and a real socket;
//! `app.anon()`, `app.user("ana")` and `app.service_role()` are HTTP clients.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpServer, web};
use selvedge_gateway::{Gateway, GatewayConfig, Keys};
use selvedge_postgres::{Database, Logins, RequestPool, RequestPoolConfig};
use selvedge_storage::{
    BucketSeed, S3KeyPair, S3ProtocolConfig, SeedReport, Storage, StorageConfig, StorageWorker,
};
use selvedge_testing::TestDatabase;
use selvedge_token::{ApiKeys, KeyRing, development, unix_now};
use serde_json::{Value, json};
use tokio_postgres::Config;
use uuid::Uuid;

pub(crate) use crate::client::{Client, Part, Request, Response};
pub(crate) use crate::store::{Store, files_below};

/// Signs all tokens of tests; the default secret of the Supabase CLI.
pub(crate) const JWT_SECRET: &str = "super-secret-jwt-token-with-at-least-32-characters-long";

/// The policy of objects that browsers may take for a document.
pub(crate) const SANDBOX: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/// A running service with its database and its blobs.
pub(crate) struct TestApp {
    pub(crate) database: TestDatabase,
    pub(crate) store: Store,
    running: Running,
}

/// A running service on its port.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) storage: Arc<Storage>,
    server: ServerHandle,
}

/// Starts the service for a database, with two workers on a free port. `login` returns how each role connects.
pub(crate) async fn serve(login: impl Fn(&str) -> Config, config: StorageConfig) -> Running {
    serve_with(login, config, RequestPoolConfig::default(), 2).await
}

/// The same with so many workers, whose connections for single statements are as `requests` says.
async fn serve_with(
    login: impl Fn(&str) -> Config,
    config: StorageConfig,
    requests: RequestPoolConfig,
    workers: usize,
) -> Running {
    let logins = Logins::new(
        login("authenticator"),
        login("supabase_auth_admin"),
        login("supabase_storage_admin"),
    );
    let database = Database::connect(logins).await.expect("the database responds");
    let keys = Arc::new(KeyRing::new(JWT_SECRET.as_bytes(), &[]).expect("a good secret"));
    let storage = Storage::open(config, Arc::clone(&database), Arc::clone(&keys)).expect("the store opens");
    let storage = Arc::new(storage);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let server = run(
        listener,
        database,
        Arc::clone(&keys),
        Arc::clone(&storage),
        requests,
        workers,
    );
    Running {
        address,
        keys,
        storage,
        server,
    }
}

impl std::ops::Deref for TestApp {
    type Target = Running;

    fn deref(&self) -> &Running {
        &self.running
    }
}

impl TestApp {
    /// Starts the service with two workers on a free port, a database with the platform schema, and an empty store.
    pub(crate) async fn start() -> Self {
        Self::start_with(|config| config).await
    }

    /// Starts the service with changed settings.
    pub(crate) async fn start_with(settings: impl FnOnce(StorageConfig) -> StorageConfig) -> Self {
        Self::start_on(Store::new(), settings).await
    }

    /// Starts the service with one worker, all of whose single statements queue on one connection, however long they take.
    pub(crate) async fn start_with_one_connection() -> Self {
        const NO_LIMIT: Duration = Duration::from_secs(3600);
        let requests = RequestPoolConfig {
            connections_per_worker: 1,
            max_connections_per_worker: 1,
            max_wait_behind: NO_LIMIT,
            slow_statement: NO_LIMIT,
            acquire_timeout: NO_LIMIT,
            ..RequestPoolConfig::default()
        };
        let (database, store) = (TestDatabase::create().await, Store::new());
        let running = serve_with(|role| database.config(role), store.config(), requests, 1).await;
        Self {
            database,
            store,
            running,
        }
    }

    /// Starts the service on an existing store, with changed settings.
    pub(crate) async fn start_on(
        store: Store,
        settings: impl FnOnce(StorageConfig) -> StorageConfig,
    ) -> Self {
        Self::start_on_database(TestDatabase::create().await, store, settings).await
    }

    /// The same on a database that the test has prepared.
    pub(crate) async fn start_on_database(
        database: TestDatabase,
        store: Store,
        settings: impl FnOnce(StorageConfig) -> StorageConfig,
    ) -> Self {
        let config = settings(StorageConfig {
            s3_protocol: Some(s3_protocol()),
            ..store.config()
        });
        let running = serve(|role| database.config(role), config).await;
        Self {
            database,
            store,
            running,
        }
    }

    /// The root folder of the service.
    pub(crate) fn root(&self) -> &Path {
        self.store.root.path()
    }

    /// Runs SQL as `postgres`, as migrations do.
    pub(crate) async fn sql(&self, text: &str) {
        self.database
            .connect("postgres")
            .await
            .batch_execute(text)
            .await
            .expect("the SQL works");
    }

    /// The number that a query returns, run as superuser.
    pub(crate) async fn count(&self, query: &str) -> i64 {
        self.database
            .superuser()
            .await
            .query_one(query, &[])
            .await
            .expect("the query works")
            .get(0)
    }

    /// Waits until the store has this many blobs, because blobs are removed in the background.
    pub(crate) async fn settle(&self, blobs: usize) {
        for _ in 0..6000 {
            if self.store.blobs() == blobs {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("{} blobs instead of {blobs}", self.store.blobs());
    }

    /// Seeds buckets as the start of a project does.
    pub(crate) async fn seed(&self, buckets: &[BucketSeed]) -> SeedReport {
        selvedge_storage::seed_buckets(&self.storage, buckets)
            .await
            .expect("the seeds are good")
    }

    /// A client without any key.
    pub(crate) fn nobody(&self) -> Client<'_> {
        Client {
            app: self,
            token: None,
            api_key: None,
        }
    }

    /// A client with the anonymous key.
    pub(crate) fn anon(&self) -> Client<'_> {
        self.with_claims(json!({"role": "anon", "exp": unix_now() + 600}))
    }

    /// A client with the service role, which bypasses all policies.
    pub(crate) fn service_role(&self) -> Client<'_> {
        self.with_claims(json!({"role": "service_role", "exp": unix_now() + 600}))
    }

    /// A signed-in user; the same name is the same user.
    pub(crate) fn user(&self, name: &str) -> Client<'_> {
        let claims = json!({"role": "authenticated", "sub": user_id(name), "aud": "authenticated", "exp": unix_now() + 600});
        self.with_claims(claims)
    }

    /// A client with any claims.
    pub(crate) fn with_claims(&self, claims: Value) -> Client<'_> {
        let token = self.keys.sign_hs256(&claims).expect("the secret signs");
        Client {
            app: self,
            token: Some(token),
            api_key: None,
        }
    }

    /// A client with this text as its bearer token.
    pub(crate) fn with_token(&self, token: &str) -> Client<'_> {
        Client {
            app: self,
            token: Some(token.to_owned()),
            api_key: None,
        }
    }

    /// A client with only an `apikey` header.
    pub(crate) fn with_api_key(&self, key: &str) -> Client<'_> {
        Client {
            app: self,
            token: None,
            api_key: Some(key.to_owned()),
        }
    }

    /// The URL of a path of the service.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/storage/v1{path}", self.address)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // `stop` sends the command immediately; its future only waits.
        drop(self.server.stop(false));
    }
}

/// Settings of the S3 protocol with the development keys.
fn s3_protocol() -> S3ProtocolConfig {
    S3ProtocolConfig {
        region: "local".to_owned(),
        service: Some(S3KeyPair {
            access_key_id: development::s3_access_key_id(),
            secret_access_key: development::s3_secret_access_key(),
        }),
        project_refs: vec!["stub".to_owned(), development::anon_key()],
        anon_keys: vec![development::anon_key(), development::publishable_key()],
    }
}

/// The id of a test user.
pub(crate) fn user_id(name: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string()
}

/// Runs the server on a separate thread, because each test has its own runtime; returns the handle that stops it.
fn run(
    listener: TcpListener,
    database: Arc<Database>,
    keys: Arc<KeyRing>,
    storage: Arc<Storage>,
    requests: RequestPoolConfig,
    workers: usize,
) -> ServerHandle {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let server = HttpServer::new(move || {
                let requests = RequestPool::new(Arc::clone(&database), requests.clone());
                let worker = StorageWorker::new(Arc::clone(&storage), requests);
                let api_keys = ApiKeys::new(
                    vec![development::publishable_key().into()],
                    vec![development::secret_key().into()],
                );
                let keys = Keys::new(Arc::clone(&keys), Arc::new(api_keys), false);
                App::new()
                    .wrap(Gateway::new(keys, GatewayConfig::default()))
                    .service(web::scope("/storage/v1").configure(selvedge_storage::configure(worker)))
            })
            .workers(workers)
            .disable_signals()
            .listen(listener)
            .expect("the port is ours")
            .run();
            sender.send(server.handle()).expect("the test waits");
            server.await.expect("the server runs");
        });
    });
    receiver.recv().expect("the server starts")
}
