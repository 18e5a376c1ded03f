//! The provider's API for the signed-in person, read with the access token.

use actix_web::http::StatusCode;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use selvedge_token::unix_now;
use serde_json::json;

use super::provider::{Provider, Resource};
use super::state::IdentityState;

/// Answers one path of the provider's API.
pub(super) fn read_resource(
    state: &IdentityState,
    provider: &'static Provider,
    resource: &Resource,
    http: &HttpRequest,
) -> HttpResponse {
    let header = http
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let token = header
        .and_then(|value| value.strip_prefix("Bearer "))
        .unwrap_or_default();
    let access = state.grants.find_access_token(token);
    // The tokens of all providers are in one table, and one of another provider is refused.
    let access = access.filter(|access| {
        access.grant.request.provider.name == provider.name && unix_now() < access.expires_at
    });
    let Some(access) = access else {
        return refuse(
            StatusCode::UNAUTHORIZED,
            "The access token is unknown or has expired.",
        );
    };
    if let Some((name, expected)) = resource.required_header {
        let sent = http
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let is_right = match expected {
            Some(text) => sent == text,
            None => sent == access.grant.request.client_id,
        };
        if !is_right {
            return refuse(
                StatusCode::BAD_REQUEST,
                &format!("The header {name} is missing or wrong."),
            );
        }
    }
    let account = state.describe_account(&access.grant);
    HttpResponse::Ok().json((resource.read)(&account))
}

fn refuse(status: StatusCode, message: &str) -> HttpResponse {
    HttpResponseBuilder::new(status).json(json!({"error": "invalid_token", "message": message}))
}
