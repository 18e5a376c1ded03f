//! How the certificate authority is called: by the HTTP client that all calls of the process share, bounded in time and size.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use chrono::DateTime;
use http_body_util::{BodyExt as _, Full};
use hyper::header::RETRY_AFTER;
use hyper::{Request, Response, StatusCode};
use instant_acme::{BodyWrapper, BytesResponse, Error};
use selvedge_http_client::{Call, CallResponse, HttpClient};

/// How long one call may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The calls of one attempt.
#[derive(Clone)]
pub(super) struct AuthorityClient {
    http: Arc<HttpClient>,
    /// For how long the authority has told to wait, where it has refused a call.
    hold: Arc<Mutex<Option<Duration>>>,
}

impl AuthorityClient {
    pub(super) fn new(http: Arc<HttpClient>) -> Self {
        Self {
            http,
            hold: Arc::default(),
        }
    }

    /// For how long the authority has told to wait.
    pub(super) fn hold(&self) -> Option<Duration> {
        *self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_hold(&self, answer: &CallResponse) {
        if ![429, 503].contains(&answer.status) {
            return;
        }
        let told = answer
            .headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok());
        let hold = told.and_then(|text| read_retry_after(text, SystemTime::now()));
        *self.hold.lock().unwrap_or_else(PoisonError::into_inner) = hold;
    }
}

/// Seconds, or a date.
fn read_retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = DateTime::parse_from_rfc2822(text).ok()?;
    SystemTime::from(date).duration_since(now).ok()
}

impl instant_acme::HttpClient for AuthorityClient {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let client = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let Ok(body) = body.collect().await;
            let call = Call::with_headers(head.method, head.uri.to_string(), head.headers, body.to_bytes())
                .timeout(TIMEOUT);
            let answer = client.http.send(call).await;
            let answer = answer.map_err(|error| Error::Other(Box::new(error)))?;
            client.note_hold(&answer);
            let mut response = Response::new(Full::new(answer.body));
            *response.status_mut() =
                StatusCode::from_u16(answer.status).map_err(|error| Error::Other(Box::new(error)))?;
            *response.headers_mut() = answer.headers;
            Ok(BytesResponse::from(response))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_021_an_authority_tells_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_700);

        assert_eq!(read_retry_after(" 120 ", now), Some(Duration::from_secs(120)));
        assert_eq!(
            read_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now),
            Some(Duration::from_secs(77))
        );
        assert_eq!(read_retry_after("soon", now), None);
    }
}
