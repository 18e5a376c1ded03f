//! A console with sign-in and its own database, and raw HTTP requests to it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Deref;
use std::time::Duration;

use selvedge_console::{ConsoleConfig, ConsoleMode, ConsoleState, Level, add_account};
use serde_json::Value;

use crate::support::running_console::RunningConsole;

pub(crate) const PASSWORD: &str = "correct horse battery";

/// The login of admins in `selvedge serve`, which may not change the schema.
pub(crate) const OPERATOR: &str = "selvedge_console_operator";

/// A running console with the settings of `selvedge serve`.
pub(crate) struct Console {
    running: RunningConsole,
}

/// A response, split into its head and its body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// The two secrets of a session, as a browser keeps them.
pub(crate) struct SignedIn {
    pub(crate) cookie: String,
    pub(crate) secret: String,
}

impl Console {
    /// Starts a console where people sign in, with the accounts `vera` (viewer) and `adam` (admin).
    pub(crate) async fn start() -> Self {
        let console = Self::with(|config| config.login = true).await;
        let client = console.database.connect("selvedge_console_service").await;
        for (name, level) in [("vera", Level::Viewer), ("adam", Level::Admin)] {
            add_account(&client, name, level, &PASSWORD.into())
                .await
                .expect("a console that works");
        }
        console
    }

    /// Starts a console without sign-in.
    pub(crate) async fn start_without_login() -> Self {
        Self::with(|_| ()).await
    }

    /// Starts a console where users of the project sign in.
    pub(crate) async fn start_for_project_users() -> Self {
        Self::with(|config| {
            config.login = true;
            config.sign_in.project = true;
        })
        .await
    }

    async fn with(more: impl FnOnce(&mut ConsoleConfig)) -> Self {
        let change = |config: &mut ConsoleConfig| {
            config.mode = ConsoleMode::Serve;
            config.schema_changes = false;
            more(config);
        };
        let make_state = |config, database| ConsoleState::new(config, database, None);
        Self {
            running: RunningConsole::start(change, make_state).await,
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

    /// Sends a request as the console's own page does, with further header lines.
    pub(crate) fn page(&self, method: &str, path: &str, lines: &str, body: &str) -> Answer {
        let port = self.port;
        let length = body.len();
        self.raw(&format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n{lines}\r\n{body}"
        ))
    }

    /// Sends a request as the console's own page does within a session.
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
    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

impl Deref for Console {
    type Target = RunningConsole;

    fn deref(&self) -> &RunningConsole {
        &self.running
    }
}
