//! Turns a queued request into one that the sender takes, and what comes back into a stored response.

use bytes::Bytes;
use hyper::Method;
use hyper::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use selvedge_http_client::CallResponse;
use serde_json::{Map, Value};

use super::queue::{QueuedRequest, StoredResponse};
use crate::sender::{OutgoingRequest, SendError, Sender, clean_text};

/// Redirects that are followed for one request.
const MAX_REDIRECTS: usize = 10;

/// Most headers of one request.
const MAX_HEADERS: usize = 1000;

/// The `User-Agent` of the original, because receivers may allow or filter requests by it.
const AGENT: &str = "pg_net/0.20.4";

/// Sends a queued request; every failure becomes a response with an error message.
pub(super) async fn send_queued(sender: &Sender, request: QueuedRequest) -> StoredResponse {
    let outgoing = match build_request(request) {
        Ok(outgoing) => outgoing,
        Err(message) => return StoredResponse::failed(message),
    };
    match sender.send(outgoing).await {
        Ok(response) => describe_response(&response),
        Err(SendError::Failed(message)) => StoredResponse::failed(message),
        Err(SendError::TimedOut { limit, elapsed }) => StoredResponse {
            timed_out: Some(true),
            error_msg: Some(format!(
                "Timeout of {} ms reached. Total time: {:.6} ms",
                limit.as_millis(),
                elapsed.as_secs_f64() * 1000.0
            )),
            ..StoredResponse::default()
        },
    }
}

fn build_request(request: QueuedRequest) -> Result<OutgoingRequest, String> {
    let method = match request.method.to_ascii_uppercase().as_str() {
        "POST" => Method::POST,
        "DELETE" => Method::DELETE,
        _ => Method::GET,
    };
    Ok(OutgoingRequest {
        method,
        url: request.url,
        headers: build_headers(request.headers.as_ref())?,
        body: Bytes::from(request.body.unwrap_or_default()),
        timeout_ms: i64::from(request.timeout_milliseconds),
        max_redirects: MAX_REDIRECTS,
    })
}

/// The headers of a JSON object, with the defaults that curl adds.
fn build_headers(headers: Option<&Value>) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    map.insert(ACCEPT, HeaderValue::from_static("*/*"));
    map.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    let fields = match headers {
        None | Some(Value::Null) => return Ok(map),
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err("the headers are no JSON object".to_owned()),
    };
    // A map of headers has an end, at which it panics; no server takes as many.
    if fields.len() > MAX_HEADERS {
        return Err(format!("more than {MAX_HEADERS} headers"));
    }
    for (name, value) in fields {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .zip(HeaderValue::from_str(&text).ok());
        let Some((name, value)) = parsed else {
            return Err(format!("the header \"{name}\" is malformed"));
        };
        // The length follows from the body; a wrong one would break the connection.
        if name != CONTENT_LENGTH {
            map.insert(name, value);
        }
    }
    Ok(map)
}

fn describe_response(response: &CallResponse) -> StoredResponse {
    let mut headers = Map::new();
    for (name, value) in &response.headers {
        let value = clean_text(value.as_bytes());
        headers.insert(name.as_str().to_owned(), Value::String(value));
    }
    let content_type = response.headers.get(CONTENT_TYPE);
    StoredResponse {
        status_code: Some(i32::from(response.status)),
        content_type: content_type.map(|value| clean_text(value.as_bytes())),
        headers: Some(Value::Object(headers)),
        content: (!response.body.is_empty()).then(|| clean_text(&response.body)),
        timed_out: Some(false),
        error_msg: None,
        received: response.body.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers_come_from_a_json_object() {
        let headers =
            build_headers(Some(&json!({"X-Other": 1, "Content-Length": "99", "Gone": null}))).expect("valid");

        assert_eq!(headers["x-other"], "1");
        assert_eq!(headers[USER_AGENT], AGENT);
        assert!(!headers.contains_key(CONTENT_LENGTH) && !headers.contains_key("gone"));
        assert!(build_headers(Some(&json!(["a"]))).is_err());
        assert!(build_headers(Some(&json!({"bad name": "x"}))).is_err());
        assert!(build_headers(Some(&json!({"x": "a\r\nb: c"}))).is_err());
    }
}
