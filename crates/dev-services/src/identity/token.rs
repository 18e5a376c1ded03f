//! `POST <token endpoint>`: exchanges a code or a refresh token for tokens (RFC 6749 §4.1.3, §6).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{ACCEPT, AUTHORIZATION};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use selvedge_token::unix_now;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::grants::{AccessToken, CODE_LIFETIME_S, Grant};
use super::openid::{TokenPurpose, sign_id_token};
use super::outcome::Outcome;
use super::provider::{Provider, RefreshTokens};
use super::settings::ProviderClient;
use super::state::IdentityState;
use super::subject::make_secret;

/// How long the token endpoint takes in a sign-in that is chosen to be slow.
const SLOW_SECONDS: u64 = 4;

/// Lifetime of access tokens of providers that do not send `expires_in`, in seconds.
const UNTOLD_LIFETIME_S: i64 = 8 * 3600;

/// An error of RFC 6749 §5.2.
struct TokenError(StatusCode, &'static str, &'static str);

impl TokenError {
    fn invalid_grant(description: &'static str) -> Self {
        Self(StatusCode::BAD_REQUEST, "invalid_grant", description)
    }
}

/// Answers the token endpoint.
pub(super) async fn exchange_token(
    state: &IdentityState,
    provider: &'static Provider,
    client: &ProviderClient,
    http: &HttpRequest,
    body: &[u8],
) -> HttpResponse {
    let form: HashMap<String, String> = url::form_urlencoded::parse(body).into_owned().collect();
    let response = match find_grant(state, client, http, &form) {
        Ok((grant, refreshes)) => {
            if grant.outcome == Outcome::Slow && !refreshes {
                tokio::time::sleep(Duration::from_secs(SLOW_SECONDS)).await;
            }
            issue_tokens(state, provider, client, &grant, refreshes)
        }
        Err(error) => Err(error),
    };
    match response {
        Ok(tokens) if wants_json(provider, http) => HttpResponse::Ok().json(tokens),
        Ok(tokens) => HttpResponse::Ok()
            .content_type("application/x-www-form-urlencoded")
            .body(to_form(&tokens)),
        Err(TokenError(status, error, description)) => {
            let status = if provider.errors_with_200 {
                StatusCode::OK
            } else {
                status
            };
            HttpResponseBuilder::new(status).json(json!({"error": error, "error_description": description}))
        }
    }
}

/// Finds the grant of a code or refresh token. The second value says whether it is a refresh.
fn find_grant(
    state: &IdentityState,
    client: &ProviderClient,
    http: &HttpRequest,
    form: &HashMap<String, String>,
) -> Result<(Arc<Grant>, bool), TokenError> {
    let field = |name: &str| form.get(name).map_or("", String::as_str);
    let client_id = authenticate_client(client, http, form)?;
    let (grant, refreshes) = match field("grant_type") {
        "refresh_token" => (state.grants.find_refresh_token(field("refresh_token")), true),
        "authorization_code" => (state.grants.take_code(field("code")), false),
        _ => {
            return Err(TokenError(
                StatusCode::BAD_REQUEST,
                "unsupported_grant_type",
                "Only authorization_code and refresh_token are known.",
            ));
        }
    };
    let grant = grant.ok_or_else(|| {
        TokenError::invalid_grant("The code or refresh token is unknown, or the code was used before.")
    })?;
    if grant.request.provider.name != client.provider || grant.request.client_id != client_id {
        return Err(TokenError::invalid_grant("It was issued to another client."));
    }
    if !refreshes {
        check_code(&grant, field("redirect_uri"), field("code_verifier"))?;
    }
    Ok((grant, refreshes))
}

/// Checks id and secret of the client, from the Authorization header or the form (RFC 6749 §2.3.1); returns the id.
fn authenticate_client(
    client: &ProviderClient,
    http: &HttpRequest,
    form: &HashMap<String, String>,
) -> Result<String, TokenError> {
    let header = http
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let basic = header
        .and_then(|value| value.strip_prefix("Basic "))
        .and_then(|value| STANDARD.decode(value).ok())
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let decode = |text: &str| {
        let pair = format!("x={}", text.replace('&', "%26"));
        let decoded = url::form_urlencoded::parse(pair.as_bytes()).next();
        decoded.map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    let (id, secret) = match basic.as_deref().and_then(|pair| pair.split_once(':')) {
        Some((id, secret)) => (decode(id), decode(secret)),
        None => {
            let field = |name: &str| form.get(name).cloned().unwrap_or_default();
            (field("client_id"), field("client_secret"))
        }
    };
    // The secret protects nothing and is usually empty or `dev`; a wrong one is refused so that a configuration mistake is
    // found here as with the real provider.
    if client.client_ids.contains(&id) && secret == client.secret {
        Ok(id)
    } else {
        Err(TokenError(
            StatusCode::UNAUTHORIZED,
            "invalid_client",
            "Client id or secret is wrong.",
        ))
    }
}

/// Checks age, callback URL and PKCE verifier of a code.
fn check_code(grant: &Grant, redirect_uri: &str, verifier: &str) -> Result<(), TokenError> {
    if unix_now() - grant.issued_at > CODE_LIFETIME_S {
        return Err(TokenError::invalid_grant("The code has expired."));
    }
    if redirect_uri != grant.request.redirect_uri {
        return Err(TokenError::invalid_grant(
            "redirect_uri is not the one of the sign-in.",
        ));
    }
    // Without a challenge in the authorization request there is nothing to compare the verifier with.
    let challenge = grant.request.param("code_challenge");
    let computed = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
    if !challenge.is_empty() && challenge != computed {
        return Err(TokenError::invalid_grant(
            "code_verifier does not match the challenge.",
        ));
    }
    Ok(())
}

/// Makes the token response in the provider's shape.
fn issue_tokens(
    state: &IdentityState,
    provider: &'static Provider,
    client: &ProviderClient,
    grant: &Arc<Grant>,
    refreshes: bool,
) -> Result<Value, TokenError> {
    let access_token = add_access_token(state, provider, grant);
    let account = state.describe_account(grant);
    // The common members are inserted first; those of the provider may replace them.
    let mut tokens = Map::new();
    tokens.insert("access_token".to_owned(), json!(access_token));
    tokens.insert("token_type".to_owned(), json!(provider.token_type));
    if let Some(seconds) = provider.expires_in {
        tokens.insert("expires_in".to_owned(), json!(seconds));
    }
    // The granted scopes are always the requested ones: the page offers no choice among them.
    let scope = grant.request.param("scope");
    if !scope.is_empty() {
        tokens.insert("scope".to_owned(), json!(scope));
    }
    // A refresh keeps its refresh token, as with Google, so only the exchange of a code makes one.
    if !refreshes && gets_refresh_token(provider.refresh_tokens, grant) {
        let refresh_token = make_secret();
        state
            .grants
            .add_refresh_token(refresh_token.clone(), grant.clone());
        tokens.insert("refresh_token".to_owned(), json!(refresh_token));
    }
    if let Some(id_token) = provider
        .id_token
        .as_ref()
        .filter(|known| (known.is_issued)(&account))
    {
        let purpose = TokenPurpose {
            audience: &grant.request.client_id,
            nonce: grant.request.param("nonce"),
            access_token: &access_token,
        };
        let signed = sign_id_token(state, client, id_token, &account, &purpose);
        tokens.insert("id_token".to_owned(), json!(signed));
    }
    if let Value::Object(more) = (provider.token_extras)(&account) {
        tokens.extend(more);
    }
    Ok(Value::Object(tokens))
}

/// Makes an access token with the provider's prefix, by which developers recognise it in logs.
fn add_access_token(state: &IdentityState, provider: &Provider, grant: &Arc<Grant>) -> String {
    let token = format!("{}{}", provider.access_token_prefix, make_secret());
    let lifetime = provider.expires_in.unwrap_or(UNTOLD_LIFETIME_S);
    let access = AccessToken {
        grant: grant.clone(),
        expires_at: unix_now() + lifetime,
        secret: String::new(),
    };
    state.grants.add_access_token(token.clone(), access);
    token
}

/// Whether this sign-in gets a refresh token, by the provider's own rule.
fn gets_refresh_token(rule: RefreshTokens, grant: &Grant) -> bool {
    match rule {
        RefreshTokens::Never => false,
        RefreshTokens::Always => true,
        RefreshTokens::WithScope(scope) => grant.request.has_scope(scope),
        // Google: only offline access, and then only when the person consents, which they do the first time.
        RefreshTokens::Offline => {
            let asks_again = grant
                .request
                .param("prompt")
                .split(' ')
                .any(|word| word == "consent");
            grant.request.param("access_type") == "offline" && (asks_again || grant.is_first)
        }
    }
}

/// GitHub answers with a form unless JSON is asked for; all others always answer with JSON.
fn wants_json(provider: &Provider, http: &HttpRequest) -> bool {
    let accept = http.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    !provider.answers_with_form || accept.is_some_and(|accept| accept.contains("application/json"))
}

fn to_form(tokens: &Value) -> String {
    let members = tokens.as_object().into_iter().flatten();
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(members.map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.as_str(), text)
        }))
        .finish()
}
