//! One question of the extension http and its answer.
//!
//! In: JSON of the function `_http_ask` (crates/postgres/extensions/http). Out: JSON with `status`, `content_type`,
//! `headers` and `content`, or with `error`, the message that the function raises.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::Method;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use selvedge_http_client::CallResponse;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::sender::{OutgoingRequest, SendError, Sender, clean_text};

/// Redirects that the original follows. It follows none of a HEAD.
const MAX_REDIRECTS: usize = 5;

/// The request that the extension sends.
#[derive(Deserialize)]
struct Question {
    method: String,
    uri: String,
    headers: Vec<(String, Option<String>)>,
    content_type: Option<String>,
    content: Option<String>,
    timeout_ms: i64,
    user_agent: String,
    /// `user:password`, for the header `Authorization`.
    credentials: Option<String>,
}

/// Sends the request of a question and returns the answer.
pub(super) async fn answer_question(sender: &Sender, question: &str) -> Value {
    let request = match parse_question(question) {
        Ok(request) => request,
        Err(message) => return json!({ "error": message }),
    };
    match sender.send(request).await {
        Ok(response) => describe_response(&response),
        Err(SendError::Failed(message)) => json!({ "error": message }),
        Err(SendError::TimedOut { limit, .. }) => {
            json!({ "error": format!("Operation timed out after {} milliseconds", limit.as_millis()) })
        }
    }
}

fn parse_question(question: &str) -> Result<OutgoingRequest, String> {
    let question: Question = serde_json::from_str(question)
        .map_err(|_| "the question is not that of the extension http".to_owned())?;
    let method = Method::from_bytes(question.method.as_bytes())
        .map_err(|_| format!("Unsupported HTTP method: {}", question.method))?;
    let max_redirects = if method == Method::HEAD { 0 } else { MAX_REDIRECTS };
    let headers = build_headers(&question)?;
    Ok(OutgoingRequest {
        method,
        url: question.uri,
        headers,
        body: Bytes::from(question.content.unwrap_or_default()),
        timeout_ms: question.timeout_ms,
        max_redirects,
    })
}

fn build_headers(question: &Question) -> Result<HeaderMap, String> {
    let parse_value = |name: &str, text: &str| {
        HeaderValue::from_str(text).map_err(|_| format!("the header \"{name}\" is malformed"))
    };
    let mut map = HeaderMap::new();
    map.insert(ACCEPT, HeaderValue::from_static("*/*"));
    map.insert(USER_AGENT, parse_value("User-Agent", &question.user_agent)?);
    if let Some(credentials) = &question.credentials {
        let mut value = parse_value(
            "Authorization",
            &format!("Basic {}", STANDARD.encode(credentials)),
        )?;
        value.set_sensitive(true);
        map.insert(AUTHORIZATION, value);
    }
    for (name, value) in &question.headers {
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("the header \"{name}\" is malformed"))?;
        // The length follows from the body; a wrong one would break the connection.
        if parsed == CONTENT_LENGTH {
            continue;
        }
        let value = parse_value(name, value.as_deref().unwrap_or_default())?;
        // The caller's header replaces a default one, and is added to others of the same name.
        if [ACCEPT, USER_AGENT, AUTHORIZATION].contains(&parsed) {
            map.insert(parsed, value);
        } else {
            map.append(parsed, value);
        }
    }
    if let Some(content_type) = &question.content_type {
        map.insert(CONTENT_TYPE, parse_value("Content-Type", content_type)?);
    }
    Ok(map)
}

fn describe_response(response: &CallResponse) -> Value {
    let headers: Vec<(String, String)> = response
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), clean_text(value.as_bytes())))
        .collect();
    let content_type = response.headers.get(CONTENT_TYPE);
    json!({
        "status": response.status,
        "content_type": content_type.map(|value| clean_text(value.as_bytes())),
        "headers": headers,
        "content": (!response.body.is_empty()).then(|| clean_text(&response.body)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(changes: &Value) -> String {
        let mut question = json!({
            "method": "POST", "uri": "http://a.example/", "headers": [["X-One", "1"], ["x-one", "2"], ["accept", "a/b"]],
            "content_type": "text/plain", "content": "hello", "timeout_ms": 5000, "user_agent": "PostgreSQL",
            "credentials": null,
        });
        for (name, value) in changes.as_object().into_iter().flatten() {
            question[name] = value.clone();
        }
        question.to_string()
    }

    #[test]
    fn gw_018_a_question_becomes_a_request_with_all_headers_of_a_name() {
        let request = parse_question(&question(&json!({"credentials": "me:secret"}))).expect("valid");

        assert_eq!(
            (request.method, request.max_redirects),
            (Method::POST, MAX_REDIRECTS)
        );
        assert_eq!(request.headers.get_all("x-one").iter().count(), 2);
        assert_eq!(request.headers[ACCEPT], "a/b");
        assert_eq!(request.headers[CONTENT_TYPE], "text/plain");
        assert_eq!(request.headers[AUTHORIZATION], "Basic bWU6c2VjcmV0");
        assert_eq!(&request.body[..], b"hello");
        let head = parse_question(&question(&json!({"method": "HEAD"}))).expect("valid");
        assert_eq!(head.max_redirects, 0);
    }

    #[test]
    fn gw_018_what_cannot_be_sent_is_an_error_with_its_reason() {
        for (changes, expected) in [
            (json!({"method": "A B"}), "Unsupported HTTP method: A B"),
            (
                json!({"headers": [["bad name", "x"]]}),
                "the header \"bad name\" is malformed",
            ),
            (
                json!({"headers": [["x", "a\r\nb: c"]]}),
                "the header \"x\" is malformed",
            ),
            (
                json!({"uri": null}),
                "the question is not that of the extension http",
            ),
        ] {
            let error = parse_question(&question(&changes)).expect_err("refused");

            assert_eq!(error, expected, "{changes}");
        }
    }
}
