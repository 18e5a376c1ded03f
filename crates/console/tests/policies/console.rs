//! A console on a free port over a database of its own.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use reqwest::{Client, Method};
use selvedge_console::{
    AllowedHosts, ConsoleConfig, ConsoleDatabase, ConsoleMode, ConsoleState, ServiceHandles, UserClaims,
    start_console,
};
use selvedge_postgres::testing::TestDatabase;
use selvedge_postgres::{Database, Login, Logins};
use serde_json::{Value, json};

/// A running console. It stops when this is dropped.
pub(crate) struct TestConsole {
    pub(crate) database: TestDatabase,
    origin: String,
    http: Client,
    server: ServerHandle,
}

impl TestConsole {
    /// A console where nobody signs in. With `read_only` everybody is a viewer, otherwise an admin.
    pub(crate) async fn start(read_only: bool) -> Self {
        let database = TestDatabase::create().await;
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let config = config(port, read_only);
        let logins = Logins::with_single_login(database.config("authenticator"))
            .with_login(Login::ConsoleReader, database.config("selvedge_console_reader"))
            .with_login(Login::ConsoleAdmin, database.config("postgres"))
            .with_login(Login::ConsoleService, database.config("selvedge_console_service"));
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let database = ConsoleDatabase::new(Database::new(logins));
                let handles = ServiceHandles {
                    user_claims: Some(user_claims()),
                };
                let state =
                    ConsoleState::with_services(config, database, None, None, handles, Arc::default());
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

    /// Status and JSON of a request; null where the response has no body.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> (u16, Value) {
        let request = self
            .http
            .request(method, format!("{}{path}", self.origin))
            .header("x-selvedge-console", "1")
            .header("sec-fetch-site", "same-origin")
            .timeout(Duration::from_secs(60));
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let response = request.send().await.expect("a response");
        let status = response.status().as_u16();
        let text = response.text().await.expect("a body");
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, body) = self.send(Method::GET, path, None).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    pub(crate) async fn simulate(&self, body: Value) -> Value {
        let (status, report) = self.send(Method::POST, "/api/simulate", Some(&body)).await;
        assert_eq!(status, 200, "{report}");
        report
    }

    /// Runs statements as the role `postgres`.
    pub(crate) async fn sql(&self, sql: &str) {
        let client = self.database.connect("postgres").await;
        client.batch_execute(sql).await.expect("the statements run");
    }

    pub(crate) async fn oid(&self, table: &str) -> String {
        let client = self.database.connect("postgres").await;
        let sql = "select $1::text::regclass::oid::text";
        client.query_one(sql, &[&table]).await.expect("a table").get(0)
    }
}

impl Drop for TestConsole {
    fn drop(&mut self) {
        // The stop is sent when the future is made; nobody has to wait for it.
        drop(self.server.stop(false));
    }
}

/// Claims as auth would make them, with one that a hook has added.
fn user_claims() -> UserClaims {
    Arc::new(|user, aal| {
        Box::pin(
            async move { Ok(json!({ "sub": user, "role": "authenticated", "aal": aal, "team": "red" })) },
        )
    })
}

fn config(port: u16, read_only: bool) -> ConsoleConfig {
    ConsoleConfig {
        mode: ConsoleMode::Start,
        project: "test".to_owned(),
        hosts: AllowedHosts::new(port, None),
        login: false,
        read_only,
        schema_changes: true,
        secure_cookies: false,
        idle: Duration::from_secs(1800),
        lifetime: Duration::from_secs(43_200),
        statement_timeout: Duration::from_secs(60),
        api_url: "http://127.0.0.1:1".to_owned(),
        publishable_key: "publishable".to_owned(),
        inbox_url: None,
        exposed_schemas: vec!["public".to_owned()],
        project_folder: None,
        version: "0.0.0",
        trusted_proxies: 0,
    }
}
