//! A console where people sign in, over a database of its own, and requests to it byte by byte.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use actix_web::dev::ServerHandle;
use selvedge_console::{
    AllowedHosts, ConsoleConfig, ConsoleDatabase, ConsoleMode, ConsoleState, Level, add_account,
    start_console,
};
use selvedge_postgres::testing::TestDatabase;
use selvedge_postgres::{Database, Login, Logins};
use serde_json::Value;

pub(crate) const PASSWORD: &str = "correct horse battery";

/// A running console. It stops when this is dropped.
pub(crate) struct Console {
    pub(crate) database: TestDatabase,
    pub(crate) port: u16,
    server: ServerHandle,
}

/// The head and the body of a response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// The secrets of a session.
pub(crate) struct SignedIn {
    pub(crate) cookie: String,
    pub(crate) secret: String,
}

pub(crate) fn logins(database: &TestDatabase) -> Logins {
    Logins::with_single_login(database.config("authenticator"))
        .with_login(Login::ConsoleReader, database.config("selvedge_console_reader"))
        .with_login(Login::ConsoleAdmin, database.config("selvedge_console_operator"))
        .with_login(Login::ConsoleService, database.config("selvedge_console_service"))
}

impl Console {
    /// A console where people sign in, with the accounts `vera` (viewer) and `adam` (admin).
    pub(crate) async fn start() -> Self {
        let console = Self::with(true).await;
        let client = console.database.connect("postgres").await;
        for (name, level) in [("vera", Level::Viewer), ("adam", Level::Admin)] {
            add_account(&client, name, level, &PASSWORD.into())
                .await
                .expect("a console that works");
        }
        console
    }

    /// A console where nobody signs in.
    pub(crate) async fn start_without_login() -> Self {
        Self::with(false).await
    }

    async fn with(login: bool) -> Self {
        let database = TestDatabase::create().await;
        let listener = TcpListener::bind("127.0.0.1:0").expect("a console that works");
        let port = listener.local_addr().expect("a console that works").port();
        let logins = logins(&database);
        let config = config(port, login);
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let database = ConsoleDatabase::new(Database::new(logins));
                let state = ConsoleState::new(config, database, None);
                let server = start_console(state, vec![listener]).expect("a console that works");
                sender.send(server.handle()).expect("a console that works");
                server.await.expect("a console that works");
            });
        });
        let server = receiver
            .recv_timeout(Duration::from_secs(30))
            .expect("a console that works");
        Self {
            database,
            port,
            server,
        }
    }

    /// Sends these bytes and reads until the connection ends.
    pub(crate) fn raw(&self, text: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a console that works");
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .expect("a console that works");
        stream.write_all(text.as_bytes()).expect("a console that works");
        let mut received = Vec::new();
        stream.read_to_end(&mut received).expect("a console that works");
        let received = String::from_utf8_lossy(&received).into_owned();
        let (head, body) = received.split_once("\r\n\r\n").unwrap_or((&received, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or(0);
        Answer {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// A request of the console's own page, with further header lines.
    pub(crate) fn page(&self, method: &str, path: &str, lines: &str, body: &str) -> Answer {
        let port = self.port;
        let length = body.len();
        self.raw(&format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n{lines}\r\n{body}"
        ))
    }

    /// The same within a session.
    pub(crate) fn page_as(&self, session: &SignedIn, method: &str, path: &str) -> Answer {
        let SignedIn { cookie, secret } = session;
        let lines = format!("Cookie: {cookie}\r\nX-Selvedge-Console: {secret}\r\n");
        self.page(method, path, &lines, "")
    }

    pub(crate) fn try_sign_in(&self, name: &str, password: &str, lines: &str) -> Answer {
        let body = serde_json::json!({ "name": name, "password": password }).to_string();
        self.page(
            "POST",
            "/api/session",
            &format!("X-Selvedge-Console: 1\r\n{lines}"),
            &body,
        )
    }

    pub(crate) fn sign_in(&self, name: &str) -> SignedIn {
        let answer = self.try_sign_in(name, PASSWORD, "");
        assert_eq!(answer.status, 200, "{}", answer.body);
        let set = answer.header("set-cookie").expect("a console that works");
        assert!(set.contains("; HttpOnly; SameSite=Strict"), "{set}");
        let body: Value = serde_json::from_str(&answer.body).expect("a console that works");
        SignedIn {
            cookie: set.split(';').next().expect("a console that works").to_owned(),
            secret: body["secret"].as_str().expect("a console that works").to_owned(),
        }
    }
}

impl Answer {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        // The stop is sent when the future is made; nobody has to wait for it.
        drop(self.server.stop(false));
    }
}

fn config(port: u16, login: bool) -> ConsoleConfig {
    ConsoleConfig {
        mode: ConsoleMode::Serve,
        project: "test".to_owned(),
        hosts: AllowedHosts::new(port, None),
        login,
        read_only: false,
        schema_changes: false,
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
