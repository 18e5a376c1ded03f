//! A request that the console sends itself to one of the services, with a JSON body, and the complete response.

use actix_web::body;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use bytes::Bytes;
use futures_util::stream;
use serde_json::Value;
use url::Url;

use super::thread_api::ThreadApi;
use crate::error::ConsoleError;
use crate::state::ConsoleState;

/// The longest response that is read, in bytes; responses to the console's own calls have some kilobytes.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// A request to a service.
pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    /// The public path with its query, such as `/storage/v1/object/move`.
    pub(crate) path: String,
    /// The JSON body; null sends no body.
    pub(crate) body: Value,
    /// The value of the header `apikey`.
    pub(crate) key: &'a str,
    /// The bearer token; without one the request runs with the key's role.
    pub(crate) token: Option<&'a str>,
    /// The request id for the log.
    pub(crate) request_id: &'a str,
    /// The client's IP address, for the services' rate limits.
    pub(crate) address: &'a str,
}

/// The response of a service.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// The JSON body; null if the body is not JSON.
    pub(crate) body: Value,
}

/// Sends a request to its service and reads the whole response.
///
/// # Errors
/// 503 when this process does not run the services, or the response ends early.
pub(crate) async fn call_service(
    state: &ConsoleState,
    api: &ThreadApi,
    call: Call<'_>,
) -> Result<Answer, ConsoleError> {
    let service = api.get(state).await?;
    let content = match call.body {
        Value::Null => Bytes::new(),
        body => Bytes::from(body.to_string()),
    };
    let length = content.len().to_string();
    let payload = stream::once(async move { Ok(content) });
    let payload: actix_http::BoxedPayloadStream = Box::pin(payload);
    let mut request = actix_http::Request::with_payload(actix_http::Payload::from(payload));
    let head = request.head_mut();
    head.method = call.method;
    head.uri = call
        .path
        .parse()
        .map_err(|_| ConsoleError::invalid("The address is not valid"))?;
    let token = call.token.map(|token| format!("Bearer {token}"));
    let own = [
        ("host", Some(api_host(state))),
        ("content-type", Some("application/json".to_owned())),
        ("content-length", Some(length)),
        ("apikey", Some(call.key.to_owned())),
        ("authorization", token),
        ("x-request-id", Some(call.request_id.to_owned())),
        ("x-forwarded-for", Some(call.address.to_owned())),
    ];
    insert_headers(&mut head.headers, own);
    // Errors of the gateway are converted to responses.
    let response = match service(request).await {
        Ok(response) => response,
        Err(error) => error.error_response(),
    };
    let status = response.status();
    let broken = || ConsoleError::unavailable("The answer of the service broke off");
    let content = body::to_bytes_limited(response.into_body(), LONGEST_ANSWER)
        .await
        .map_err(|_| broken())?
        .map_err(|_| broken())?;
    Ok(Answer {
        status,
        body: serde_json::from_slice(&content).unwrap_or_default(),
    })
}

/// Inserts headers; values with characters that a header cannot contain are left out.
fn insert_headers<const N: usize>(
    headers: &mut actix_http::header::HeaderMap,
    own: [(&'static str, Option<String>); N],
) {
    for (name, value) in own {
        let value = value.and_then(|value| HeaderValue::from_str(&value).ok());
        if let Some(value) = value {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

/// Returns the host and port by which clients reach the API. Services build URLs from the header `Host`.
pub(crate) fn api_host(state: &ConsoleState) -> String {
    Url::parse(&state.config.api_url)
        .ok()
        .and_then(|url| {
            url.origin()
                .ascii_serialization()
                .split_once("://")
                .map(|(_, host)| host.to_owned())
        })
        .unwrap_or_else(|| "localhost".to_owned())
}
