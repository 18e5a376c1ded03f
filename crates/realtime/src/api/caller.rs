//! The caller of the HTTP API, and what all its endpoints share: body limit and rate headers.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use bytes::Bytes;
use selvedge_gateway::{Bearer, BodyError, BodyForm, BodyLimits, Caller, read_body};
use selvedge_limits::ClientId;
use selvedge_token::Claims;
use serde_json::{Map, Value};

use super::error::ApiError;
use crate::authorization::{CheckError, Extension, Subject};
use crate::state::Shared;
use crate::token::check_claims;

/// A caller with a valid token.
pub(super) struct ApiCaller {
    /// The client as limits count it.
    client: ClientId,
    claims: Arc<Claims>,
    /// All headers of the request, as a JSON object for policies.
    headers: String,
}

impl ApiCaller {
    /// Identifies the caller of a request. The gateway has already verified the token's signature; claims and expiry
    /// are checked here.
    ///
    /// # Errors
    /// 401 without a valid token; 429 when the project's rate of messages is exceeded.
    pub(super) fn identify(request: &HttpRequest, shared: &Shared) -> Result<Self, ApiError> {
        let caller = Caller::extract(request);
        let claims = match (caller.bearer(), caller.api_key()) {
            // An opaque API key has a role and never expires.
            (Bearer::None, Some(key)) => Arc::new(Claims::for_role(key.role())),
            (Bearer::Valid(claims), Some(_)) if claims.get("exp").is_none() => Arc::clone(claims),
            (Bearer::Valid(claims), _) if check_claims(claims).is_ok() => Arc::clone(claims),
            _ => return Err(ApiError::Unauthorized(StatusCode::UNAUTHORIZED)),
        };
        if shared.event_rate.is_exceeded() {
            return Err(ApiError::TooManyRequests("You have exceeded your rate limit"));
        }
        let headers: Map<String, Value> = request
            // Compat: policies of HTTP calls see all headers, those of sockets only names with `x-`.
            .headers()
            .iter()
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.into())))
            .collect();
        Ok(Self {
            client: ClientId::of_connection(Some(caller.remote_ip())),
            claims,
            headers: Value::Object(headers).to_string(),
        })
    }

    /// Whether the INSERT policies on `realtime.messages` let the caller broadcast to a private topic.
    pub(super) async fn may_broadcast(&self, shared: &Shared, topic: &str) -> Result<bool, CheckError> {
        let _turn = shared.policy_turns.wait(self.client).await;
        let subject = Subject {
            claims: &self.claims,
            topic,
            headers: &self.headers,
        };
        shared.authorizer.check_write(subject, Extension::Broadcast).await
    }
}

/// Reads a body of at most this many bytes; `None` for a longer one, which is not read to its end.
pub(super) async fn read_limited(
    payload: web::Payload,
    bytes: usize,
    caller: &Caller,
) -> Result<Option<Bytes>, ApiError> {
    let limits = BodyLimits::of_caller(bytes, BodyForm::Bytes, caller);
    match read_body(payload, limits).await {
        Ok(body) => Ok(Some(body)),
        Err(BodyError::TooLarge) => Ok(None),
        Err(BodyError::OutOfMemory) => Err(ApiError::OutOfMemory),
        Err(BodyError::TooSlow | BodyError::Broken(_)) => Err(ApiError::BodyNotReadable),
    }
}

/// Returns 202 with headers about the project's average rate, its limit, and the rest.
pub(super) fn accepted(shared: &Shared) -> HttpResponse {
    let mut response = HttpResponse::Accepted();
    let (limit, average) = (shared.event_rate.limit(), shared.event_rate.average());
    response.insert_header(("x-rate-rolling", average.to_string()));
    if limit > 0 {
        let remaining = (f64::from(limit) - average).max(0.0).floor();
        response
            .insert_header(("x-rate-limit", limit))
            .insert_header(("x-rate-limit-remaining", remaining.to_string()));
    }
    response.finish()
}
