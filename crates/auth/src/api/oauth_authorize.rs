//! `/oauth/authorize` and the consent page behind it: a program asks, the user decides, the browser goes back with a code.
//!
//! Source: Auth contract §2.16, AUTH-099.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use deadpool_postgres::Transaction;
use rand::RngExt;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::oauth_clients::check_enabled;
use crate::error::AuthError;
use crate::request::{Json, Query, SignedIn, text};
use crate::rules::oauth_client::{check_resource, parse_scopes};
use crate::rules::pkce::CodeChallenge;
use crate::rules::redirect::with_query;
use crate::state::AuthState;
use crate::store::oauth_authorizations::{self, Authorization, NewAuthorization};
use crate::store::oauth_clients;

/// Longest `state` that is handed back.
const LONGEST_STATE: usize = 4096;
const LONGEST_NONCE: usize = 255;

/// What a program asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AuthorizeQuery {
    client_id: String,
    redirect_uri: String,
    response_type: String,
    scope: String,
    state: String,
    resource: String,
    code_challenge: String,
    code_challenge_method: String,
    nonce: String,
}

/// What the user decides.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ConsentBody {
    #[serde(deserialize_with = "text")]
    action: String,
}

/// `GET /oauth/authorize` → 302 to the consent page, or back to the program with an error.
pub(crate) async fn authorize(
    state: web::Data<AuthState>,
    query: Query<AuthorizeQuery>,
) -> Result<HttpResponse, AuthError> {
    check_enabled(&state)?;
    for (name, value) in [
        ("client_id", &query.client_id),
        ("redirect_uri", &query.redirect_uri),
    ] {
        if value.is_empty() {
            return Err(AuthError::invalid(format!("{name} is required")));
        }
    }
    let unknown = |text| AuthError::FeatureOff {
        status: 400,
        code: "oauth_client_not_found",
        text,
    };
    let id: Uuid = query
        .client_id
        .parse()
        .map_err(|_| unknown("invalid client_id format"))?;
    let db = state.client().await?;
    let client = oauth_clients::find_by_id(&db, id).await?;
    let client = client.ok_or_else(|| unknown("invalid client_id"))?;
    // Until here the browser stays with us: an address that is not registered must not be redirected to.
    if !client.redirect_uris.contains(&query.redirect_uri) {
        return Err(AuthError::invalid("invalid redirect_uri"));
    }
    let scope = if query.scope.is_empty() {
        "email"
    } else {
        &query.scope
    };
    let (scopes, challenge) = match check(&query, scope) {
        Ok(checked) => checked,
        Err(reason) => {
            return Ok(found(&error_url(
                &query.redirect_uri,
                "invalid_request",
                &reason,
                &query.state,
            )));
        }
    };
    let authorization_id = random_text(32);
    let new = NewAuthorization {
        authorization_id: &authorization_id,
        client_id: client.id,
        redirect_uri: &query.redirect_uri,
        scope: &scopes.join(" "),
        state: &query.state,
        resource: &query.resource,
        nonce: &query.nonce,
        challenge: &challenge,
    };
    oauth_authorizations::insert(&db, &new, state.now()).await?;
    let site = state.config.site_url.trim_end_matches('/');
    let path = state
        .config
        .oauth_server
        .authorization_path
        .trim_start_matches('/');
    Ok(found(&with_query(
        &format!("{site}/{path}"),
        &[("authorization_id", &authorization_id)],
    )))
}

/// Everything whose error the program hears itself.
fn check<'a>(query: &AuthorizeQuery, scope: &'a str) -> Result<(Vec<&'a str>, CodeChallenge), String> {
    if !matches!(query.response_type.as_str(), "" | "code") {
        return Err("only response_type=code is supported".to_owned());
    }
    let scopes = parse_scopes(scope)?;
    check_resource(&query.resource)?;
    if query.state.chars().count() > LONGEST_STATE || query.nonce.chars().count() > LONGEST_NONCE {
        return Err("state or nonce is too long".to_owned());
    }
    let challenge = CodeChallenge::parse(&query.code_challenge, &query.code_challenge_method);
    match challenge {
        Ok(Some(challenge)) => Ok((scopes, challenge)),
        Ok(None) => Err("PKCE flow requires both code_challenge and code_challenge_method".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn found(location: &str) -> HttpResponse {
    HttpResponse::Found()
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}

fn random_text(length: usize) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut random = rand::rng();
    (0..length)
        .map(|_| char::from(ALPHABET[random.random_range(0..ALPHABET.len())]))
        .collect()
}

fn error_url(redirect_uri: &str, error: &str, description: &str, state: &str) -> String {
    let mut pairs = vec![("error", error), ("error_description", description)];
    if !state.is_empty() {
        pairs.push(("state", state));
    }
    with_query(redirect_uri, &pairs)
}

fn success_url(authorization: &Authorization, code: &str) -> String {
    let mut pairs = vec![("code", code)];
    if !authorization.state.is_empty() {
        pairs.push(("state", &authorization.state));
    }
    with_query(&authorization.redirect_uri, &pairs)
}

fn not_found() -> AuthError {
    AuthError::FeatureOff {
        status: 404,
        code: "oauth_authorization_not_found",
        text: "authorization not found",
    }
}

/// A consent page is part of the site, or of what the site allows.
fn check_origin(state: &AuthState, request: &HttpRequest) -> Result<(), AuthError> {
    let origin = request
        .headers()
        .get(header::ORIGIN)
        .and_then(|value| value.to_str().ok());
    match origin.filter(|origin| !origin.is_empty()) {
        Some(origin) if !state.redirects.is_allowed(origin) => {
            Err(AuthError::invalid("unauthorized request origin"))
        }
        _ => Ok(()),
    }
}

/// The pending request of this id, locked.
async fn pending(
    state: &AuthState,
    db: &Transaction<'_>,
    id: &str,
    closed: &'static str,
) -> Result<Authorization, AuthError> {
    let found = oauth_authorizations::lock(db, id).await?.ok_or_else(not_found)?;
    if state.now() > found.expires_at {
        return Err(not_found());
    }
    if found.status != "pending" {
        return Err(AuthError::invalid(closed));
    }
    Ok(found)
}

/// `GET /oauth/authorizations/{id}`: what the consent page shows. Whoever asks first is who decides.
pub(crate) async fn get_authorization(
    state: web::Data<AuthState>,
    request: HttpRequest,
    caller: SignedIn,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    check_enabled(&state)?;
    check_origin(&state, &request)?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let asked = pending(&state, &db, &id, "authorization request cannot be processed").await?;
    let user_id = caller.user.id;
    match asked.user_id {
        Some(owner) if owner != user_id => return Err(not_found()),
        Some(_) => {}
        None => {
            oauth_authorizations::set_user(&db, asked.id, user_id).await?;
            let granted = oauth_authorizations::find_consent(&db, user_id, asked.client_id).await?;
            let covers = granted.is_some_and(|granted| {
                asked
                    .scope
                    .split(' ')
                    .all(|scope| granted.iter().any(|known| known == scope))
            });
            if covers {
                let code = Uuid::new_v4().to_string();
                oauth_authorizations::approve(&db, asked.id, &code, state.now()).await?;
                db.commit().await?;
                return Ok(HttpResponse::Ok().json(json!({ "redirect_url": success_url(&asked, &code) })));
            }
        }
    }
    let program = oauth_clients::find_by_id(&db, asked.client_id)
        .await?
        .ok_or_else(not_found)?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(json!({
        "authorization_id": asked.authorization_id,
        "redirect_uri": asked.redirect_uri,
        "client": program.details(),
        "user": { "id": user_id, "email": caller.user.email },
        "scope": asked.scope,
    })))
}

/// `POST /oauth/authorizations/{id}/consent`: the user approves or denies.
pub(crate) async fn decide(
    state: web::Data<AuthState>,
    request: HttpRequest,
    caller: SignedIn,
    id: web::Path<String>,
    Json(body): Json<ConsentBody>,
) -> Result<HttpResponse, AuthError> {
    check_enabled(&state)?;
    check_origin(&state, &request)?;
    if !matches!(body.action.as_str(), "approve" | "deny") {
        return Err(AuthError::invalid("action must be 'approve' or 'deny'"));
    }
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let asked = pending(&state, &db, &id, "authorization request is no longer pending").await?;
    if asked.user_id != Some(caller.user.id) {
        return Err(not_found());
    }
    let url = if body.action == "approve" {
        let code = Uuid::new_v4().to_string();
        let now = state.now();
        oauth_authorizations::approve(&db, asked.id, &code, now).await?;
        oauth_authorizations::grant(&db, caller.user.id, asked.client_id, &asked.scope, now).await?;
        success_url(&asked, &code)
    } else {
        oauth_authorizations::deny(&db, asked.id).await?;
        error_url(
            &asked.redirect_uri,
            "access_denied",
            "User denied the request",
            &asked.state,
        )
    };
    db.commit().await?;
    Ok(HttpResponse::Ok().json(json!({ "redirect_url": url })))
}
