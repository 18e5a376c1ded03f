//! A console on a free port over a database of its own.

use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use reqwest::{Client, RequestBuilder, Response};
use selvedge_console::{
    AllowedHosts, ConsoleConfig, ConsoleDatabase, ConsoleMode, ConsoleState, start_console,
};
use selvedge_postgres::testing::TestDatabase;
use selvedge_postgres::{Database, Login, Logins};
use serde_json::Value;

/// A running console. It stops when this is dropped.
pub(crate) struct TestConsole {
    pub(crate) database: TestDatabase,
    origin: String,
    http: Client,
    server: ServerHandle,
}

impl TestConsole {
    /// A console where nobody signs in and everybody is an admin, as in `selvedge start`.
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// A console whose accounts are all viewers.
    pub(crate) async fn start_for_viewers() -> Self {
        Self::with(|config| config.read_only = true).await
    }

    /// A console with other settings.
    pub(crate) async fn with(change: impl FnOnce(&mut ConsoleConfig)) -> Self {
        let database = TestDatabase::create().await;
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let mut config = config(port);
        change(&mut config);
        let logins = Logins::with_single_login(database.config("authenticator"))
            .with_login(Login::ConsoleReader, database.config("selvedge_console_reader"))
            .with_login(Login::ConsoleAdmin, database.config("postgres"))
            .with_login(Login::ConsoleService, database.config("selvedge_console_service"));
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let database = ConsoleDatabase::new(Database::new(logins));
                let state = ConsoleState::new(config, database, None);
                let server = start_console(state, vec![listener]).expect("the console starts");
                sender.send(server.handle()).expect("the test waits");
                server.await.expect("the console runs");
            });
        });
        let server = receiver.recv_timeout(Duration::from_secs(30)).expect("a server");
        Self {
            database,
            origin: format!("http://127.0.0.1:{port}"),
            http: Client::new(),
            server,
        }
    }

    fn guarded(&self, request: RequestBuilder) -> RequestBuilder {
        request
            .header("x-selvedge-console", "1")
            .header("sec-fetch-site", "same-origin")
            .timeout(Duration::from_secs(60))
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.guarded(self.http.get(format!("{}{path}", self.origin)))
    }

    pub(crate) fn delete(&self, path: &str) -> RequestBuilder {
        self.guarded(self.http.delete(format!("{}{path}", self.origin)))
    }

    pub(crate) async fn send(&self, path: &str, body: &Value) -> Response {
        loop {
            let request = self.guarded(self.http.post(format!("{}{path}", self.origin)));
            let response = request.json(body).send().await.expect("a response");
            if response.status() != 429 {
                return response;
            }
            // A test sends more requests a second than the session of a person may.
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// The JSON of a response with status 200.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        let response = self.send(path, body).await;
        let status = response.status();
        let text = response.text().await.expect("a body");
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Status and JSON of an error.
    pub(crate) async fn refused(&self, path: &str, body: &Value) -> (u16, Value) {
        let response = self.send(path, body).await;
        let status = response.status().as_u16();
        (status, response.json().await.expect("JSON"))
    }

    /// Runs statements as the role `postgres`.
    pub(crate) async fn sql(&self, sql: &str) {
        let client = self.database.connect("postgres").await;
        client
            .batch_execute(sql)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    /// The single value of a query, as text.
    pub(crate) async fn value(&self, sql: &str) -> String {
        let client = self.database.superuser().await;
        let row = client.query_one(sql, &[]).await.expect("one row");
        row.get(0)
    }

    /// The oid of a table.
    pub(crate) async fn oid(&self, table: &str) -> String {
        self.value(&format!("select '{table}'::regclass::oid::text"))
            .await
    }
}

impl Drop for TestConsole {
    fn drop(&mut self) {
        // The stop is sent when the future is made; nobody has to wait for it.
        drop(self.server.stop(false));
    }
}

fn config(port: u16) -> ConsoleConfig {
    ConsoleConfig {
        mode: ConsoleMode::Start,
        project: "test".to_owned(),
        hosts: AllowedHosts::new(port, None),
        login: false,
        read_only: false,
        schema_changes: true,
        secure_cookies: false,
        idle: Duration::from_secs(1800),
        lifetime: Duration::from_secs(43_200),
        statement_timeout: Duration::from_secs(60),
        api_url: "http://127.0.0.1:1".to_owned(),
        publishable_key: "publishable".to_owned(),
        inbox_url: None,
        exposed_schemas: vec!["public".to_owned()],
        project_folder: None::<PathBuf>,
        version: "0.0.0",
        trusted_proxies: 0,
    }
}
