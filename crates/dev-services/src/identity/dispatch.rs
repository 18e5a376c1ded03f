//! Finds out which endpoint of which provider is called.
//!
//! An endpoint is recognised by the end of its path, because self-hosted providers have any host and may lie below a
//! folder.

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse, web};

use super::authorize::authorize;
use super::oauth1;
use super::openid::{DISCOVERY_PATH, KEYS_PATH, respond_discovery, respond_keys};
use super::resource::read_resource;
use super::state::{IdentityState, prepare_keys};
use super::token::exchange_token;

/// Answers a call to any host of a provider: `/sign-in/{provider}/{host}/{path}`.
pub(super) async fn answer_call(
    state: web::Data<IdentityState>,
    path: web::Path<(String, String)>,
    http: HttpRequest,
    body: web::Bytes,
) -> HttpResponse {
    let (name, called) = path.into_inner();
    let Some((provider, client)) = state.find_client(&name) else {
        return HttpResponse::NotFound().finish();
    };
    if provider.is_oauth1 {
        return oauth1::answer_call(&state, provider, client, &http, &called);
    }
    let is_get = http.method() == Method::GET;
    if is_get && called.ends_with(DISCOVERY_PATH) {
        return respond_discovery(&state, provider, client);
    }
    if is_get && called.ends_with(KEYS_PATH) {
        prepare_keys(&state).await;
        return respond_keys(&state);
    }
    if is_get && called.ends_with(provider.authorize_path) {
        return authorize(&state, provider, client, http.query_string());
    }
    if http.method() == Method::POST && called.ends_with(provider.token_path) {
        if provider.id_token.is_some() {
            prepare_keys(&state).await;
        }
        return exchange_token(&state, provider, client, &http, &body).await;
    }
    let resource = provider
        .resources
        .iter()
        .find(|resource| called.ends_with(resource.path));
    match resource.filter(|_| is_get) {
        Some(resource) => read_resource(&state, provider, resource, &http),
        None => HttpResponse::NotFound().finish(),
    }
}
