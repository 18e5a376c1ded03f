//! Sends exported spans to the collector with the HTTP client that all calls of this project use.

use std::time::Duration;

use async_trait::async_trait;
use hyper::header::HeaderMap;
use opentelemetry_http::{Bytes, HttpError, Request, Response};
use selvedge_http_client::{Call, HttpClient};
use tokio::runtime::Runtime;

/// How long one export may take, unless the exporter gives up before.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// The client of the exporter's thread.
pub(crate) struct CollectorClient {
    client: HttpClient,
    /// A runtime for the exporter's thread. It still runs when the server's runtimes have ended, so that the last spans are sent
    /// during the stop.
    runtime: Runtime,
}

impl CollectorClient {
    /// A client without connections.
    ///
    /// # Errors
    /// When the system refuses what a runtime needs.
    pub(crate) fn new() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(Self {
            // The operator chooses the collector, which usually is in a private network.
            client: HttpClient::new(true),
            runtime,
        })
    }
}

impl std::fmt::Debug for CollectorClient {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("CollectorClient")
    }
}

#[async_trait]
impl opentelemetry_http::HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let headers: HeaderMap = head.headers;
        let call = Call::with_headers(head.method, head.uri.to_string(), headers, body);
        // Blocking is acceptable, because the exporter's thread does nothing else.
        let answer = self
            .runtime
            .block_on(self.client.send(call.timeout(EXPORT_TIMEOUT)))?;
        let mut response = Response::new(answer.body);
        *response.status_mut() = answer.status.try_into()?;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}
