//! A generator of the project: an HTTP server that remembers the requests and answers with given statuses.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) body: Value,
}

#[derive(Default)]
struct State {
    received: Vec<Received>,
    /// Statuses of the next responses; 202 when the list is empty. 0 means a response that takes a minute.
    statuses: Vec<u16>,
}

/// The server; it ends with the test's runtime.
pub(crate) struct HttpGenerator {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

impl HttpGenerator {
    /// Starts a generator that gives these statuses one after the other, and 202 afterwards.
    pub(crate) async fn start(statuses: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/generate", listener.local_addr().expect("bound"));
        let state = Arc::new(Mutex::new(State {
            received: Vec::new(),
            statuses: statuses.to_vec(),
        }));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                tokio::spawn(async move {
                    let service = service_fn(move |request| respond(request, Arc::clone(&state)));
                    http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await
                        .ok();
                });
            }
        });
        Self { url, state }
    }

    /// All requests received so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.state.lock().expect("not poisoned").received.clone()
    }

    /// Waits for the request with this number, from 1.
    pub(crate) async fn wait_for(&self, number: usize) -> Received {
        let wait = async {
            loop {
                if let Some(received) = self.received().get(number - 1) {
                    return received.clone();
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(crate::DEADLINE, wait)
            .await
            .expect("the generator is called")
    }
}

async fn respond(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let bytes = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let status = {
        let mut state = state.lock().expect("not poisoned");
        state.received.push(Received {
            headers: head.headers,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            body: serde_json::from_slice(&bytes).expect("JSON"),
        });
        match state.statuses.is_empty() {
            true => 202,
            false => state.statuses.remove(0),
        }
    };
    if status == 0 {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    let body = Full::from("{\"message\":\"Nobody is visible in the photo.\"}");
    Ok(Response::builder()
        .status(status.max(200))
        .body(body)
        .expect("valid parts"))
}
