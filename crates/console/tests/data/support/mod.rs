//! Requests to a console without services, and statements beside it.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response};
use selvedge_console::{ConsoleConfig, ConsoleState};
use serde_json::Value;

pub(crate) use crate::support::test_console::TestConsole;

impl TestConsole {
    /// Starts a console whose callers are all admins, as in `selvedge start`.
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// Starts a console whose accounts are all viewers.
    pub(crate) async fn start_for_viewers() -> Self {
        Self::with(|config| config.read_only = true).await
    }

    /// Starts a console with other settings.
    pub(crate) async fn with(change: impl FnOnce(&mut ConsoleConfig)) -> Self {
        Self::start_with(change, |config, database| {
            ConsoleState::new(config, database, None)
        })
        .await
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    pub(crate) fn delete(&self, path: &str) -> RequestBuilder {
        self.request(Method::DELETE, path)
    }

    pub(crate) async fn send(&self, path: &str, body: &Value) -> Response {
        loop {
            let request = self.request(Method::POST, path);
            let response = request.json(body).send().await.expect("a response");
            if response.status() != 429 {
                return response;
            }
            // A test sends more requests a second than the session of a person may.
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Posts JSON, and returns that of the response, whose status must be 200.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        let response = self.send(path, body).await;
        let status = response.status();
        let text = response.text().await.expect("a body");
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Posts JSON, and returns status and JSON of the response.
    pub(crate) async fn refused(&self, path: &str, body: &Value) -> (u16, Value) {
        let response = self.send(path, body).await;
        let status = response.status().as_u16();
        (status, response.json().await.expect("JSON"))
    }

    /// Returns the single value of a query, which must be a text.
    pub(crate) async fn value(&self, sql: &str) -> String {
        let client = self.database.superuser().await;
        let row = client.query_one(sql, &[]).await.expect("one row");
        row.get(0)
    }
}

/// Resident memory of this process, which also runs the console.
pub(crate) fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("a line");
    line.split_whitespace()
        .nth(1)
        .and_then(|kb| kb.parse().ok())
        .expect("a number")
}
