//! A console without sign-in, and the requests that its own page sends.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use selvedge_console::{ConsoleConfig, ConsoleDatabase, ConsoleState};

use super::running_console::RunningConsole;

/// A running console with an HTTP client for it.
pub(crate) struct TestConsole {
    running: RunningConsole,
    origin: String,
    http: Client,
}

impl TestConsole {
    /// Starts a console with these services.
    pub(crate) async fn start_with(
        change: impl FnOnce(&mut ConsoleConfig),
        make_state: impl FnOnce(ConsoleConfig, ConsoleDatabase) -> Arc<ConsoleState> + Send + 'static,
    ) -> Self {
        let running = RunningConsole::start(change, make_state).await;
        Self {
            origin: format!("http://127.0.0.1:{}", running.port),
            http: Client::new(),
            running,
        }
    }

    /// Begins a request with the headers that the console's own page sends.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http
            .request(method, format!("{}{path}", self.origin))
            .header("x-selvedge-console", "1")
            .header("sec-fetch-site", "same-origin")
            // Hundreds of megabytes take minutes where other tests have the cores.
            .timeout(Duration::from_secs(600))
    }

    /// Runs statements as the role `postgres`.
    pub(crate) async fn sql(&self, sql: &str) {
        let client = self.database.connect("postgres").await;
        client
            .batch_execute(sql)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    /// Returns the oid of a table as text.
    pub(crate) async fn oid(&self, table: &str) -> String {
        let client = self.database.connect("postgres").await;
        let sql = "select $1::text::regclass::oid::text";
        client.query_one(sql, &[&table]).await.expect("a table").get(0)
    }
}

impl Deref for TestConsole {
    type Target = RunningConsole;

    fn deref(&self) -> &RunningConsole {
        &self.running
    }
}
