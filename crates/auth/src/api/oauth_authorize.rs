//! The authorization endpoint of the OAuth server and the API of its consent page: a client asks for access, the
//! signed-in user approves or denies, and the browser returns to the client with a code. Source: Auth contract §2.16.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::response_bodies::{ConsentClientBody, RedirectBody};
use crate::error::AuthError;
use crate::feature_gates::check_oauth_server;
use crate::flows::oauth_authorization::{self, AuthorizationView, AuthorizeQuery};
use crate::request::{AuthRequest, Json, Query, SignedIn, read_text};
use crate::state::AuthState;
use crate::state::rate_limits::LimitedEndpoint;

/// Body of the decision: `action` is `approve` or `deny`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ConsentBody {
    #[serde(deserialize_with = "read_text")]
    action: String,
}

/// `GET /oauth/authorize` → 302 to the consent page of the site with `?authorization_id=`.
///
/// # Errors
/// As JSON: 404 `feature_disabled`; 429 `over_request_rate_limit`; 400 `validation_failed` or `oauth_client_not_found` for an
/// unknown client or redirect URI, 400 `invalid_request` (OAuth body) for other parameters.
pub(crate) async fn authorize_client(
    request: AuthRequest,
    query: Query<AuthorizeQuery>,
) -> Result<HttpResponse, AuthError> {
    check_oauth_server(&request.state)?;
    request.check_rate_limit(LimitedEndpoint::Authorize)?;
    let url = oauth_authorization::request_authorization(&request.state, &query).await?;
    Ok(respond_with_redirect(&url))
}

/// 302 that must not be cached, because the URL carries a code or an id that is valid once.
fn respond_with_redirect(location: &str) -> HttpResponse {
    HttpResponse::Found()
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}

/// Refuses a browser request from a page outside of the site and its allowed redirect URLs, so that a foreign page
/// cannot approve in the user's name. Requests without `Origin` do not come from a page of another site.
///
/// # Errors
/// 400 `validation_failed`.
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

/// What the consent page shows: who asks, whom, and for which scopes.
#[derive(Serialize)]
struct AuthorizationDetails<'a> {
    authorization_id: &'a str,
    redirect_uri: &'a str,
    client: ConsentClientBody<'a>,
    user: ConsentingUser<'a>,
    /// The scopes, separated by spaces.
    scope: &'a str,
}

#[derive(Serialize)]
struct ConsentingUser<'a> {
    id: Uuid,
    email: &'a str,
}

/// `GET /oauth/authorizations/{id}` → 200 with [`AuthorizationDetails`], or `{redirect_url}` with a code when an
/// earlier consent covers all scopes. The first signed-in user who reads it becomes the one who decides.
///
/// # Errors
/// 404 `feature_disabled` or `oauth_authorization_not_found`, also for an authorization of another user; 400
/// `validation_failed` for a foreign origin or one that was decided already.
pub(crate) async fn get_authorization(
    request: AuthRequest,
    http: HttpRequest,
    caller: SignedIn,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    check_oauth_server(&request.state)?;
    check_origin(&request.state, &http)?;
    let view = oauth_authorization::open_authorization(&request, &caller, &id).await?;
    Ok(match &view {
        AuthorizationView::AlreadyGranted(url) => HttpResponse::Ok().json(RedirectBody { redirect_url: url }),
        AuthorizationView::Pending {
            authorization,
            client,
            user,
        } => HttpResponse::Ok().json(AuthorizationDetails {
            authorization_id: &authorization.authorization_id,
            redirect_uri: &authorization.redirect_uri,
            client: ConsentClientBody::new(client),
            user: ConsentingUser {
                id: user.id,
                email: &user.email,
            },
            scope: &authorization.scope,
        }),
    })
}

/// `POST /oauth/authorizations/{id}/consent` `{action}` → 200 `{redirect_url}`: back to the client with a code, or
/// with `error=access_denied`. An approval is remembered for later authorizations of the same client.
///
/// # Errors
/// Those of [`get_authorization`], and 400 `validation_failed` for any other action.
pub(crate) async fn decide_authorization(
    request: AuthRequest,
    http: HttpRequest,
    caller: SignedIn,
    id: web::Path<String>,
    Json(body): Json<ConsentBody>,
) -> Result<HttpResponse, AuthError> {
    check_oauth_server(&request.state)?;
    check_origin(&request.state, &http)?;
    if !matches!(body.action.as_str(), "approve" | "deny") {
        return Err(AuthError::invalid("action must be 'approve' or 'deny'"));
    }
    let is_approved = body.action == "approve";
    let url = oauth_authorization::decide_authorization(&request, &caller, &id, is_approved).await?;
    Ok(HttpResponse::Ok().json(RedirectBody { redirect_url: &url }))
}
