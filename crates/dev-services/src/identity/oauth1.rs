//! The provider's half of OAuth 1.0a (RFC 5849), which only Twitter's older sign-in uses. Every call is signed with
//! HMAC-SHA1, and the signatures are checked.

use std::collections::HashMap;
use std::sync::Arc;

use actix_web::http::header::AUTHORIZATION;
use actix_web::{HttpRequest, HttpResponse, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use selvedge_token::unix_now;
use sha1::Sha1;

use super::authorize::continue_request;
use super::grants::{AccessToken, AuthorizationRequest};
use super::html::respond_refusal;
use super::provider::{Provider, RequestParams, Resource};
use super::settings::ProviderClient;
use super::state::IdentityState;
use super::subject::make_secret;

/// Percent-encodes everything but the unreserved characters of RFC 3986 (RFC 5849 §3.6).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Access tokens of OAuth 1.0a do not expire at Twitter; here they last as long as the process is likely to.
const LIFETIME_S: i64 = 30 * 24 * 3600;

/// Answers a call to Twitter's host: the three steps of the sign-in, or the profile.
pub(super) fn answer_call(
    state: &web::Data<IdentityState>,
    provider: &'static Provider,
    client: &ProviderClient,
    http: &HttpRequest,
    called: &str,
) -> HttpResponse {
    if called.ends_with(provider.authorize_path) {
        return authenticate(state, provider, client, http);
    }
    let call = SignedCall::read(state, provider, http, called);
    if called.ends_with("/oauth/request_token") {
        return issue_request_token(state, client, &call);
    }
    if called.ends_with(provider.token_path) {
        return exchange_verifier(state, client, &call);
    }
    match provider
        .resources
        .iter()
        .find(|resource| called.ends_with(resource.path))
    {
        Some(resource) => read_resource(state, client, &call, resource),
        None => HttpResponse::NotFound().finish(),
    }
}

/// `POST /oauth/request_token`: the callback URL must be the registered one, apart from its query.
fn issue_request_token(state: &IdentityState, client: &ProviderClient, call: &SignedCall) -> HttpResponse {
    if !call.is_signed_by(client, "") {
        return refuse("Could not authenticate you.");
    }
    let callback = call.oauth("oauth_callback");
    if callback.split('?').next() != Some(client.redirect_uri.as_str()) {
        return refuse("Callback URL not approved for this client application.");
    }
    let (token, secret) = (make_secret(), make_secret());
    state
        .grants
        .add_request_token(token.clone(), secret.clone(), callback.to_owned());
    respond_form(&[
        ("oauth_token", &token),
        ("oauth_token_secret", &secret),
        ("oauth_callback_confirmed", "true"),
    ])
}

/// `GET /oauth/authenticate?oauth_token=`: the sign-in page.
fn authenticate(
    state: &web::Data<IdentityState>,
    provider: &'static Provider,
    client: &ProviderClient,
    http: &HttpRequest,
) -> HttpResponse {
    let params = RequestParams::parse(http.query_string());
    let token = params.get("oauth_token").to_owned();
    let Some((secret, callback)) = state.grants.find_request_token(&token) else {
        return respond_refusal(
            actix_web::http::StatusCode::BAD_REQUEST,
            "This page is too old",
            "Its request token is not known any more. Go back to the application and start again.",
        );
    };
    let request = AuthorizationRequest {
        provider,
        client_id: client.client_ids.first().cloned().unwrap_or_default(),
        redirect_uri: callback,
        params,
        request_token: Some((token, secret)),
    };
    continue_request(state, Arc::new(request))
}

/// `POST /oauth/access_token` with the verifier of the callback.
fn exchange_verifier(state: &IdentityState, client: &ProviderClient, call: &SignedCall) -> HttpResponse {
    let Some(grant) = state.grants.take_code(call.oauth("oauth_verifier")) else {
        return refuse("The verifier is unknown or was used before.");
    };
    let Some((token, secret)) = &grant.request.request_token else {
        return refuse("The verifier belongs to another sign-in.");
    };
    let is_fresh = unix_now() - grant.issued_at <= super::grants::CODE_LIFETIME_S;
    if !is_fresh || token != call.oauth("oauth_token") || !call.is_signed_by(client, secret) {
        return refuse("Could not authenticate you.");
    }
    let (access_token, access_secret) = (format!("{}-{}", grant.subject, make_secret()), make_secret());
    let form = [
        ("oauth_token", access_token.as_str()),
        ("oauth_token_secret", &access_secret),
        ("user_id", &grant.subject),
        ("screen_name", &grant.person.user_name()),
    ];
    let response = respond_form(&form);
    let access = AccessToken {
        grant: grant.clone(),
        expires_at: unix_now() + LIFETIME_S,
        secret: access_secret.clone(),
    };
    state.grants.add_access_token(access_token.clone(), access);
    response
}

fn read_resource(
    state: &IdentityState,
    client: &ProviderClient,
    call: &SignedCall,
    resource: &Resource,
) -> HttpResponse {
    match state.grants.find_access_token(call.oauth("oauth_token")) {
        Some(access) if call.is_signed_by(client, &access.secret) => {
            let account = state.describe_account(&access.grant);
            HttpResponse::Ok().json((resource.read)(&account))
        }
        _ => refuse("Invalid or expired token."),
    }
}

/// A call with the parameters of its Authorization header.
struct SignedCall {
    method: String,
    /// As the client called it, without the query: the signature covers it.
    url: String,
    query: Vec<(String, String)>,
    oauth: HashMap<String, String>,
}

impl SignedCall {
    fn read(state: &IdentityState, provider: &Provider, http: &HttpRequest, called: &str) -> Self {
        let header = http
            .headers()
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let parts = header
            .and_then(|value| value.strip_prefix("OAuth "))
            .unwrap_or_default();
        let oauth = parts
            .split(',')
            .filter_map(|part| {
                let (name, value) = part.trim().split_once('=')?;
                Some((percent_decode(name), percent_decode(value.trim_matches('"'))))
            })
            .collect();
        Self {
            method: http.method().to_string(),
            url: format!("{}/{called}", state.provider_url(provider.name)),
            query: url::form_urlencoded::parse(http.query_string().as_bytes())
                .into_owned()
                .collect(),
            oauth,
        }
    }

    /// A parameter of the header; empty when it is missing.
    fn oauth(&self, name: &str) -> &str {
        self.oauth.get(name).map_or("", String::as_str)
    }

    /// Whether the call has the client's id and a signature made with its secret and the token's (RFC 5849 §3.4).
    fn is_signed_by(&self, client: &ProviderClient, token_secret: &str) -> bool {
        let own = self.oauth.iter().filter(|(name, _)| *name != "oauth_signature");
        let mut signed: Vec<(String, String)> = own
            .chain(self.query.iter().map(|(name, value)| (name, value)))
            .map(|(name, value)| (percent_encode(name), percent_encode(value)))
            .collect();
        // RFC 5849 §3.4.1.3.2: sorted by name, then by value, both after encoding.
        signed.sort();
        let pairs: Vec<String> = signed
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let base = format!(
            "{}&{}&{}",
            self.method,
            percent_encode(&self.url),
            percent_encode(&pairs.join("&"))
        );
        let key = format!(
            "{}&{}",
            percent_encode(&client.secret),
            percent_encode(token_secret)
        );
        let mut mac = Hmac::<Sha1>::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
        mac.update(base.as_bytes());
        let signature = STANDARD.decode(self.oauth("oauth_signature")).unwrap_or_default();
        client
            .client_ids
            .iter()
            .any(|id| id == self.oauth("oauth_consumer_key"))
            && mac.verify_slice(&signature).is_ok()
    }
}

fn respond_form(pairs: &[(&str, &str)]) -> HttpResponse {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish();
    HttpResponse::Ok()
        .content_type("application/x-www-form-urlencoded")
        .body(body)
}

fn refuse(message: &str) -> HttpResponse {
    HttpResponse::Unauthorized().json(serde_json::json!({"errors": [{"code": 32, "message": message}]}))
}

fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

fn percent_decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
