//! The service behind the gateway, on a database of the test's own, and clients that talk to it.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::{App, dev::ServerHandle, web};
use reqwest::header::HeaderMap;
use selvedge_gateway::{Gateway, GatewayConfig, Keys, ServerBuilder};
use selvedge_memory::{DatabasePart, MemoryBudget};
use selvedge_postgres::{Database, Logins, RequestPool, RequestPoolConfig};
use selvedge_rest::{RestConfig, RestWorker, SchemaCache, graphql_scope};
use selvedge_testing::TestDatabase;
use selvedge_token::{ApiKeys, KeyRing, unix_now};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) const JWT_SECRET: &str = "super-secret-jwt-token-with-at-least-32-characters-long";

/// A server with a new database.
pub(crate) struct TestApp {
    pub(crate) database: TestDatabase,
    pub(crate) cache: Arc<SchemaCache>,
    pub(crate) url: String,
    server: ServerHandle,
    ring: Arc<KeyRing>,
}

/// A response, read to its end.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl TestResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A small blog with row-level security; most tests run on it.
pub(crate) const BLOG: &str = include_str!("blog.sql");
/// The two users of the blog.
pub(crate) const ANA: &str = "aaaaaaaa-0000-4000-8000-000000000001";
pub(crate) const BEN: &str = "bbbbbbbb-0000-4000-8000-000000000002";

impl TestApp {
    /// A server on the blog.
    pub(crate) async fn blog() -> Self {
        Self::start(BLOG).await
    }

    /// A server on a new database in which `schema` was run by the superuser.
    pub(crate) async fn start(schema: &str) -> Self {
        Self::start_with(schema, RestConfig::default()).await
    }

    pub(crate) async fn start_with(schema: &str, config: RestConfig) -> Self {
        let database = TestDatabase::create().await;
        database
            .superuser()
            .await
            .batch_execute(schema)
            .await
            .expect("the test's schema is valid");
        Self::serve(database, config).await
    }

    /// A server on a database that is ready.
    pub(crate) async fn serve(database: TestDatabase, config: RestConfig) -> Self {
        let login = |role: &str| database.config(role);
        let logins = Logins::new(
            login("authenticator"),
            login("supabase_auth_admin"),
            login("supabase_storage_admin"),
        );
        Self::serve_logins(database, logins, config).await
    }

    /// Starts the service with the test's logins, for example through a proxy.
    pub(crate) async fn serve_logins(database: TestDatabase, logins: Logins, config: RestConfig) -> Self {
        let connected = Database::connect(logins).await.expect("the database is there");
        let cache = SchemaCache::start(Arc::clone(&connected), config).await;
        let ring = Arc::new(KeyRing::new(JWT_SECRET.as_bytes(), &[]).expect("a good secret"));
        let keys = Keys::new(
            Arc::clone(&ring),
            Arc::new(ApiKeys::new(Vec::new(), Vec::new())),
            false,
        );
        let shared = Arc::clone(&cache);
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        // What PostgreSQL may take for results is counted, as in a start.
        let memory = MemoryBudget::with_database(usize::MAX, DatabasePart::new(1 << 30));
        let application = move || {
            let pool_config = RequestPoolConfig {
                memory: memory.clone(),
                ..RequestPoolConfig::default()
            };
            let pool = RequestPool::new(Arc::clone(&connected), pool_config);
            App::new()
                .wrap(Gateway::new(keys.clone(), GatewayConfig::default()))
                .configure(|app| {
                    let rest = RestWorker::new(Arc::clone(&shared), pool, None);
                    app.service(graphql_scope("/graphql/v1", rest.clone()))
                        .service(web::scope("/rest/v1").configure(rest.configure()));
                })
        };
        let builder = ServerBuilder::new().workers(1).disable_signals();
        let head_timeout = Duration::from_secs(5);
        let running = selvedge_gateway::listen(builder, listener, head_timeout, application)
            .expect("the listener is good")
            .run();
        let handle = running.handle();
        tokio::spawn(running);
        Self {
            database,
            cache,
            url: format!("http://{address}/rest/v1"),
            server: handle,
            ring,
        }
    }

    pub(crate) fn anon(&self) -> Client {
        Client {
            url: self.url.clone(),
            token: None,
            http: reqwest::Client::new(),
        }
    }

    /// A signed-in user.
    pub(crate) fn user(&self, id: &str) -> Client {
        self.with_claims(&json!({ "role": "authenticated", "sub": id, "exp": unix_now() + 600 }))
    }

    pub(crate) fn service_role(&self) -> Client {
        self.with_claims(&json!({ "role": "service_role" }))
    }

    pub(crate) fn with_claims(&self, claims: &Value) -> Client {
        let token = self.ring.sign_hs256(claims).expect("the secret signs");
        Client {
            token: Some(token),
            ..self.anon()
        }
    }

    /// Sends the head of a request as it is given, and reads until the server closes the connection.
    pub(crate) async fn raw(&self, head: &[u8]) -> String {
        let address = self.url.strip_prefix("http://").expect("plain HTTP");
        let address = address.split('/').next().expect("an address");
        let stream = TcpStream::connect(address).await.expect("the server listens");
        let (mut from, mut to) = stream.into_split();
        let request = [head, b"\r\nHost: test\r\nConnection: close\r\n\r\n"].concat();
        // Errors of writing are ignored: a server that refuses early does not read to the end.
        let sending = tokio::spawn(async move {
            let _ = to.write_all(&request).await;
            to
        });
        let mut response = Vec::new();
        from.read_to_end(&mut response).await.expect("a response");
        sending.await.expect("sending does not panic");
        String::from_utf8_lossy(&response).into_owned()
    }

    pub(crate) async fn stop(self) {
        self.server.stop(false).await;
    }
}

/// An HTTP client, with or without a token.
#[derive(Clone)]
pub(crate) struct Client {
    url: String,
    pub(crate) token: Option<String>,
    http: reqwest::Client,
}

impl Client {
    /// A client of the server at `url`.
    pub(crate) fn at(url: &str, token: Option<String>) -> Self {
        Self {
            url: url.to_owned(),
            token,
            http: reqwest::Client::new(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        self.send("GET", path, &[], None).await
    }

    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> TestResponse {
        self.send("GET", path, headers, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> TestResponse {
        self.send("POST", path, &[], Some(body.to_string())).await
    }

    pub(crate) async fn post_with(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> TestResponse {
        self.send("POST", path, headers, Some(body.to_string())).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> TestResponse {
        let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            if !headers
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
            {
                request = request.header("content-type", "application/json");
            }
            request = request.body(body);
        }
        let response = request.send().await.expect("the server answers");
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await.expect("a body");
        TestResponse {
            status,
            headers,
            text,
        }
    }
}
