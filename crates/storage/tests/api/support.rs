//! A tiny vocabulary for talking to the service: [`TestApp::start`] runs it behind the real gateway, on a real PostgreSQL
//! and a real socket; `app.anon()`, `app.user("ana")` and `app.service_role()` are HTTP clients.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpServer, web};
use reqwest::{Method, StatusCode};
use selvedge_gateway::{Gateway, GatewayConfig, Keys};
use selvedge_postgres::testing::TestDatabase;
use selvedge_postgres::{Database, Logins, RequestPool, RequestPoolConfig};
use selvedge_storage::{
    BucketSeed, S3KeyPair, S3ProtocolConfig, SeedReport, Storage, StorageConfig, StorageWorker,
};
use selvedge_token::{ApiKeys, KeyRing, development, unix_now};
use serde_json::{Value, json};
use tokio_postgres::Config;
use uuid::Uuid;

pub(crate) const JWT_SECRET: &str = "super-secret-jwt-token-with-at-least-32-characters-long";

/// The service, running.
pub(crate) struct TestApp {
    pub(crate) database: TestDatabase,
    pub(crate) root: tempfile::TempDir,
    /// Where finished blobs end up: a folder of ours, or of the S3 server.
    finished: PathBuf,
    running: Running,
}

/// The service on its port.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) storage: Arc<Storage>,
    server: ServerHandle,
}

/// Starts the service for a database, two workers on a free port. `login` says how each role connects.
pub(crate) async fn serve(login: impl Fn(&str) -> Config, config: StorageConfig) -> Running {
    let logins = Logins::new(
        login("authenticator"),
        login("supabase_auth_admin"),
        login("supabase_storage_admin"),
    );
    let database = Database::connect(logins).await.expect("the database answers");
    let keys = Arc::new(KeyRing::new(JWT_SECRET.as_bytes(), &[]).expect("a good secret"));
    let storage = Storage::open(config, Arc::clone(&database), Arc::clone(&keys)).expect("the store opens");
    let storage = Arc::new(storage);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let server = run(listener, database, Arc::clone(&keys), Arc::clone(&storage));
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
    /// A database with the platform schema, an empty store of blobs, and two workers on a free port.
    pub(crate) async fn start() -> Self {
        Self::start_with(|config| config).await
    }

    /// The same with other settings.
    pub(crate) async fn start_with(settings: impl FnOnce(StorageConfig) -> StorageConfig) -> Self {
        let database = TestDatabase::create().await;
        let root = tempfile::tempdir().expect("a temporary folder");
        let (finished, s3_backend) = if crate::ON_S3 {
            let (folder, config) = crate::s3_server::bucket(&root.path().join("incoming"));
            (folder, Some(config))
        } else {
            (root.path().join("blobs"), None)
        };
        let config = settings(StorageConfig {
            root: root.path().to_owned(),
            s3_protocol: Some(s3_protocol()),
            s3_backend,
            ..StorageConfig::default()
        });
        let running = serve(|role| database.config(role), config).await;
        Self {
            database,
            root,
            finished,
            running,
        }
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

    /// One number that SQL answers, past all policies.
    pub(crate) async fn count(&self, query: &str) -> i64 {
        self.database
            .superuser()
            .await
            .query_one(query, &[])
            .await
            .expect("the query works")
            .get(0)
    }

    /// Files of finished and unfinished blobs.
    pub(crate) fn blobs(&self) -> usize {
        files_below(&self.finished) + files_below(&self.root.path().join("incoming"))
    }

    /// Takes the bytes of all objects away.
    pub(crate) fn remove_all_blobs(&self) {
        std::fs::remove_dir_all(&self.finished).expect("removable");
        std::fs::create_dir(&self.finished).expect("ours");
    }

    /// Takes the bytes of an object away, behind the service's back.
    pub(crate) async fn remove_blob(&self, version: &str) {
        let mut waiting = vec![self.finished.clone()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(folder).expect("readable").flatten() {
                if entry.path().is_dir() {
                    waiting.push(entry.path());
                } else if entry.file_name() == version {
                    return std::fs::remove_file(entry.path()).expect("ours");
                }
            }
        }
        panic!("there is no blob {version}");
    }

    /// Waits until the store holds this many blobs: what is removed in the background takes a moment.
    pub(crate) async fn settle(&self, blobs: usize) {
        for _ in 0..2000 {
            if self.blobs() == blobs {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("{} blobs instead of {blobs}", self.blobs());
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

    /// A client that passes all policies.
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

    /// A client with this text as its bearer.
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
        // The future only waits; the stop itself is sent when it is made.
        drop(self.server.stop(false));
    }
}

/// The S3 protocol with the keys of development.
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

pub(crate) fn files_below(folder: &Path) -> usize {
    let mut waiting = vec![folder.to_owned()];
    let mut files = 0;
    while let Some(folder) = waiting.pop() {
        // A folder may go while we look.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path: PathBuf = entry.path();
            if path.is_dir() {
                waiting.push(path)
            } else {
                files += 1
            }
        }
    }
    files
}

fn run(
    listener: TcpListener,
    database: Arc<Database>,
    keys: Arc<KeyRing>,
    storage: Arc<Storage>,
) -> ServerHandle {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let server = HttpServer::new(move || {
                let requests = RequestPool::new(Arc::clone(&database), RequestPoolConfig::default());
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
            .workers(2)
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

/// An HTTP client with an identity.
pub(crate) struct Client<'a> {
    app: &'a TestApp,
    token: Option<String>,
    api_key: Option<String>,
}

impl Client<'_> {
    /// The bearer token.
    pub(crate) fn token(&self) -> &str {
        self.token.as_deref().expect("this client has a token")
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> Request {
        let mut builder = reqwest::Client::new().request(method, self.app.url(path));
        if let Some(token) = &self.token {
            builder = builder.bearer_auth(token);
        }
        if let Some(api_key) = &self.api_key {
            builder = builder.header("apikey", api_key);
        }
        Request { builder }
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await
    }

    pub(crate) async fn head(&self, path: &str) -> Response {
        self.request(Method::HEAD, path).send().await
    }

    pub(crate) async fn delete(&self, path: &str) -> Response {
        self.request(Method::DELETE, path).send().await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Response {
        self.request(Method::POST, path).json(body).send().await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Response {
        self.request(Method::PUT, path).json(body).send().await
    }

    /// Deletes with a JSON body.
    pub(crate) async fn remove(&self, bucket: &str, keys: &[&str]) -> Response {
        self.request(Method::DELETE, &format!("/object/{bucket}"))
            .json(json!({"prefixes": keys}))
            .send()
            .await
    }

    /// Uploads text.
    pub(crate) async fn upload(&self, path: &str, text: &str) -> Response {
        self.upload_request(path, text).send().await
    }

    /// An upload of text, to be given more headers.
    /// Uploads text, replacing what is there.
    pub(crate) async fn upsert(&self, path: &str, text: &str) -> Response {
        self.upload_request(path, text)
            .header("x-upsert", "true")
            .send()
            .await
    }

    pub(crate) fn upload_request(&self, path: &str, text: &str) -> Request {
        self.request(Method::POST, &format!("/object/{path}"))
            .header("content-type", "text/plain")
            .body(text.as_bytes().to_vec())
    }

    /// Uploads a form.
    pub(crate) async fn upload_form(&self, path: &str, parts: &[Part<'_>]) -> Response {
        self.request(Method::POST, &format!("/object/{path}"))
            .form(parts)
            .send()
            .await
    }

    pub(crate) async fn list(&self, bucket: &str, prefix: &str) -> Response {
        self.post(&format!("/object/list/{bucket}"), json!({"prefix": prefix}))
            .await
    }
}

/// A part of a form.
pub(crate) enum Part<'a> {
    Field(&'a str, &'a str),
    File {
        name: &'a str,
        content_type: Option<&'a str>,
        bytes: &'a [u8],
    },
}

pub(crate) struct Request {
    builder: reqwest::RequestBuilder,
}

impl Request {
    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        Self {
            builder: self.builder.header(name, value),
        }
    }

    pub(crate) fn body(self, body: impl Into<reqwest::Body>) -> Self {
        Self {
            builder: self.builder.body(body),
        }
    }

    pub(crate) fn json(self, body: Value) -> Self {
        Self {
            builder: self.builder.json(&body),
        }
    }

    pub(crate) fn form(self, parts: &[Part<'_>]) -> Self {
        let boundary = "----test-boundary";
        let mut body = Vec::new();
        for part in parts {
            body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
            match part {
                Part::Field(name, text) => body.extend_from_slice(
                    format!("content-disposition: form-data; name=\"{name}\"\r\n\r\n{text}").as_bytes(),
                ),
                Part::File {
                    name,
                    content_type,
                    bytes,
                } => {
                    body.extend_from_slice(
                        format!("content-disposition: form-data; name=\"{name}\"; filename=\"f\"\r\n")
                            .as_bytes(),
                    );
                    if let Some(content_type) = content_type {
                        body.extend_from_slice(format!("content-type: {content_type}\r\n").as_bytes());
                    }
                    body.extend_from_slice(b"\r\n");
                    body.extend_from_slice(bytes);
                }
            }
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        self.header(
            "content-type",
            &format!("multipart/form-data; boundary={boundary}"),
        )
        .body(body)
    }

    pub(crate) async fn send(self) -> Response {
        let response = self.builder.send().await.expect("the service answers");
        let status = response.status();
        let headers = response.headers().clone();
        let body = response.bytes().await.expect("the body is whole").to_vec();
        Response {
            status,
            headers,
            body,
        }
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    /// HTTP status, `statusCode` and `code` of an error.
    pub(crate) fn error(&self) -> (u16, String, String) {
        let body = self.json();
        let text = |name: &str| {
            body[name]
                .as_str()
                .unwrap_or_else(|| panic!("no {name}: {body}"))
                .to_owned()
        };
        (self.status.as_u16(), text("statusCode"), text("code"))
    }

    pub(crate) fn message(&self) -> String {
        self.json()["message"].as_str().unwrap_or_default().to_owned()
    }

    /// Panics unless the answer is a success.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert!(self.status.is_success(), "{} {}", self.status, self.text());
        self
    }

    /// Panics unless the answer is this error.
    #[track_caller]
    pub(crate) fn is(&self, http: u16, status_code: &str, code: &str) {
        assert_eq!(
            self.error(),
            (http, status_code.to_owned(), code.to_owned()),
            "{}",
            self.text()
        );
    }

    /// The `name` of each row.
    pub(crate) fn names(&self) -> Vec<String> {
        let rows = self.json();
        let rows = rows.as_array().unwrap_or_else(|| panic!("not a list: {rows}"));
        rows.iter()
            .map(|row| row["name"].as_str().expect("a name").to_owned())
            .collect()
    }
}
