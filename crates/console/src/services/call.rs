//! One request of the console itself to a service, with a JSON body, and the whole answer.

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

/// The longest answer that is read; those to the console's own calls have some kilobytes.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// A request to a service.
pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    /// The public path with its query, such as `/storage/v1/object/move`.
    pub(crate) path: String,
    /// The JSON of the body; null sends none.
    pub(crate) body: Value,
    /// The value of the header `apikey`.
    pub(crate) key: &'a str,
    /// The bearer token; without one the request is the key's own.
    pub(crate) token: Option<&'a str>,
    /// The id under which the log has the request.
    pub(crate) request_id: &'a str,
    /// The address of the client, for the services' own limits.
    pub(crate) address: &'a str,
}

/// The answer of a service.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// The JSON of the body; null where it is none.
    pub(crate) body: Value,
}

/// Sends a request to its service.
///
/// # Errors
/// 503 where the services are not part of this process, or an answer breaks off.
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
    // Errors of the gateway are answers, too.
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

/// Inserts the headers that are given. What cannot stand in a header is left out.
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

/// The host under which clients know the API: services make addresses from it.
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
