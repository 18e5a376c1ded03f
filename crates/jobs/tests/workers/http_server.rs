//! An HTTP server that answers by path and remembers what it got.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: hyper::HeaderMap,
    pub(crate) body: String,
}

/// The server; it ends with the test's runtime.
pub(crate) struct HttpServer {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl HttpServer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let log = Arc::clone(&log);
                tokio::spawn(async move {
                    let service = service_fn(move |request| answer(request, Arc::clone(&log)));
                    http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await
                        .ok();
                });
            }
        });
        Self { address, received }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().expect("not poisoned").clone()
    }
}

async fn answer(
    request: Request<Incoming>,
    log: Arc<Mutex<Vec<Received>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let path = head.uri.to_string();
    log.lock().expect("not poisoned").push(Received {
        method: head.method.to_string(),
        path: path.clone(),
        headers: head.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    });
    let builder = Response::builder();
    let response = match path.split('?').next().unwrap_or_default() {
        "/slow" => {
            tokio::time::sleep(Duration::from_secs(30)).await;
            builder.body(Full::default())
        }
        "/pause" => {
            tokio::time::sleep(Duration::from_millis(300)).await;
            builder.body(Full::from("paused"))
        }
        "/large" => builder.body(Full::from(vec![b'x'; 200_000])),
        "/moved" => builder
            .status(302)
            .header("location", "/target")
            .body(Full::default()),
        "/around" => builder
            .status(302)
            .header("location", "/around")
            .body(Full::default()),
        // To the address behind the question mark.
        "/elsewhere" => builder
            .status(307)
            .header(
                "location",
                path.split_once('?').map_or("", |(_, address)| address),
            )
            .body(Full::default()),
        "/missing" => builder.status(404).body(Full::from("nothing here")),
        _ => builder
            .header("content-type", "application/json")
            .header("x-answer", "42")
            .body(Full::from("{\"ok\":true}")),
    };
    Ok(response.expect("valid parts"))
}
