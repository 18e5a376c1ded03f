//! Requests to a console whose only service is auth, which makes the claims of users.

use std::ops::Deref;
use std::sync::Arc;

use reqwest::Method;
use selvedge_console::{ConsoleState, ServiceHandles, UserClaims};
use serde_json::{Value, json};

use crate::support::test_console::TestConsole;

/// A running console that knows the claims of users.
pub(crate) struct ConsoleWithUsers(TestConsole);

impl Deref for ConsoleWithUsers {
    type Target = TestConsole;

    fn deref(&self) -> &TestConsole {
        &self.0
    }
}

impl ConsoleWithUsers {
    /// Starts a console whose callers are all viewers with `read_only`, otherwise admins.
    pub(crate) async fn start(read_only: bool) -> Self {
        let change = move |config: &mut selvedge_console::ConsoleConfig| config.read_only = read_only;
        let running = TestConsole::start_with(change, |config, database| {
            let handles = ServiceHandles {
                user_claims: Some(user_claims()),
                ..ServiceHandles::default()
            };
            ConsoleState::with_services(config, database, None, None, handles, Arc::default())
        })
        .await;
        Self(running)
    }

    /// Sends a request, and returns status and JSON of the response; null where it has no body.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> (u16, Value) {
        let request = self.request(method, path);
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
}

/// Makes claims as auth does, with one that a hook has added.
fn user_claims() -> UserClaims {
    Arc::new(|user, aal| {
        Box::pin(
            async move { Ok(json!({ "sub": user, "role": "authenticated", "aal": aal, "team": "red" })) },
        )
    })
}
