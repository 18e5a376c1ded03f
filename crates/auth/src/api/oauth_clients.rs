//! Clients of the OAuth server: dynamic registration (`POST /oauth/clients/register`) and administration
//! (`/admin/oauth/clients`).
//!
//! Source: Auth contract §2.15, §2.16, AUTH-099.

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{AuthError, FeatureError, OauthServerError};
use crate::feature_gates::check_oauth_server;
use crate::request::{Admin, AuthRequest, Json, read_text};
use crate::state::AuthState;
use crate::state::rate_limits::LimitedEndpoint;
use crate::store::oauth_clients::{self, OauthClient};
use crate::user::format_timestamp;
use crate::validation::oauth_client::{
    check_grant_types, check_redirect_uris, check_texts, choose_client_type, generate_secret, parse_method,
};

/// Client metadata (RFC 7591 §2), for registration and for updates. Only `redirect_uris` is required: 1 to 10 URIs,
/// either https, http on loopback, or of an application's own scheme, and without a fragment.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ClientBody {
    redirect_uris: Option<Vec<String>>,
    grant_types: Option<Vec<String>>,
    #[serde(deserialize_with = "read_text")]
    client_type: String,
    token_endpoint_auth_method: Option<String>,
    client_name: Option<String>,
    client_uri: Option<String>,
    logo_uri: Option<String>,
}

/// A client as administrators and the client itself see it (RFC 7591 §3.2.1). Times are RFC 3339.
#[derive(Serialize)]
struct ClientResponse<'a> {
    client_id: Uuid,
    client_type: &'a str,
    redirect_uris: &'a [String],
    token_endpoint_auth_method: &'a str,
    grant_types: &'a [String],
    response_types: [&'static str; 1],
    registration_type: &'a str,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    client_name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    client_uri: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    logo_uri: &'a str,
    /// Given only when it was just generated, because the database stores its hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<&'a str>,
}

impl<'a> ClientResponse<'a> {
    fn new(client: &'a OauthClient, client_secret: Option<&'a str>) -> Self {
        Self {
            client_id: client.id,
            client_type: &client.client_type,
            redirect_uris: &client.redirect_uris,
            token_endpoint_auth_method: &client.auth_method,
            grant_types: &client.grant_types,
            response_types: ["code"],
            registration_type: &client.registration_type,
            created_at: format_timestamp(client.created_at),
            updated_at: format_timestamp(client.updated_at),
            client_name: &client.name,
            client_uri: &client.uri,
            logo_uri: &client.logo_uri,
            client_secret,
        }
    }
}

/// `POST /oauth/clients/register` → 201 with the client; `client_secret` is part of the response unless the client is
/// public.
///
/// # Errors
/// 404 `feature_disabled`; 403 `oauth_dynamic_client_registration_disabled`; 400 `validation_failed`; 429
/// `over_request_rate_limit`.
pub(crate) async fn register_client(
    request: AuthRequest,
    Json(body): Json<ClientBody>,
) -> Result<HttpResponse, AuthError> {
    check_oauth_server(&request.state)?;
    if !request.config().oauth_server.allow_dynamic_registration {
        return Err(FeatureError::DynamicRegistrationDisabled.into());
    }
    request.check_rate_limit(LimitedEndpoint::RegisterClient)?;
    create_client_of_kind(&request.state, body, "dynamic").await
}

/// `POST /admin/oauth/clients` → 201 like [`register_client`], without its rate limit and also while dynamic
/// registration is off.
pub(crate) async fn create_client(
    state: web::Data<AuthState>,
    _: Admin,
    Json(body): Json<ClientBody>,
) -> Result<HttpResponse, AuthError> {
    check_oauth_server(&state)?;
    create_client_of_kind(&state, body, "manual").await
}

/// Creates a client. `registration` is `dynamic` or `manual`. Without `grant_types` it gets both grants that the
/// server supports.
///
/// # Errors
/// 400 `validation_failed`.
async fn create_client_of_kind(
    state: &AuthState,
    body: ClientBody,
    registration: &str,
) -> Result<HttpResponse, AuthError> {
    let redirect_uris = body.redirect_uris.unwrap_or_default();
    check_redirect_uris(&redirect_uris)?;
    let grant_types = body.grant_types.filter(|types| !types.is_empty());
    let grant_types =
        grant_types.unwrap_or_else(|| vec!["authorization_code".to_owned(), "refresh_token".to_owned()]);
    check_grant_types(&grant_types)?;
    let optional = |text: Option<String>| text.unwrap_or_default();
    let method = optional(body.token_endpoint_auth_method);
    let (client_type, auth_method) = choose_client_type(&body.client_type, &method)?;
    let (secret, hash) = match client_type {
        // A public client cannot keep a secret (RFC 6749 §2.1); PKCE protects its codes instead.
        "public" => (None, String::new()),
        _ => {
            let (secret, hash) = generate_secret();
            (Some(secret), hash)
        }
    };
    let now = state.now();
    let new = OauthClient {
        id: Uuid::new_v4(),
        secret_hash: hash,
        registration_type: registration.to_owned(),
        redirect_uris,
        grant_types,
        name: optional(body.client_name),
        uri: optional(body.client_uri),
        logo_uri: optional(body.logo_uri),
        client_type: client_type.to_owned(),
        auth_method: auth_method.to_owned(),
        created_at: now,
        updated_at: now,
    };
    check_texts(&new.name, &new.uri, &new.logo_uri)?;
    let client = state.connect().await?;
    oauth_clients::upsert(&client, &new).await?;
    // This response holds the only copy of the secret: the database stores its hash.
    Ok(HttpResponse::Created()
        .insert_header(("Cache-Control", "no-store"))
        .json(ClientResponse::new(&new, secret.as_deref())))
}

/// `GET /admin/oauth/clients` → 200 `{clients?}`, without secrets.
pub(crate) async fn list_clients(state: web::Data<AuthState>, _: Admin) -> Result<HttpResponse, AuthError> {
    check_oauth_server(&state)?;
    let client = state.connect().await?;
    let all = oauth_clients::list_all(&client).await?;
    Ok(HttpResponse::Ok().json(ClientList {
        clients: all
            .iter()
            .map(|client| ClientResponse::new(client, None))
            .collect(),
    }))
}

/// Body of the list. Compat: an empty list is left out, as upstream does.
#[derive(Serialize)]
struct ClientList<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clients: Vec<ClientResponse<'a>>,
}

/// The client that the path names.
///
/// # Errors
/// 404 `feature_disabled`, 400 `validation_failed` for an id that is not a UUID, 404 `oauth_client_not_found`.
async fn find_client(state: &AuthState, id: &str) -> Result<OauthClient, AuthError> {
    check_oauth_server(state)?;
    let id: Uuid = id
        .parse()
        .map_err(|_| AuthError::invalid("invalid client_id format"))?;
    let client = state.connect().await?;
    oauth_clients::find_by_id(&client, id)
        .await?
        .ok_or(OauthServerError::ClientNotFound.into())
}

/// `GET /admin/oauth/clients/{id}` → 200 with the client, without its secret.
pub(crate) async fn get_client(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    Ok(HttpResponse::Ok().json(ClientResponse::new(&find_client(&state, &id).await?, None)))
}

/// `PUT /admin/oauth/clients/{id}` → 200 with the client. A member of the body replaces the stored one; a missing
/// member stays. The client type cannot change, so the authentication method must fit it.
///
/// # Errors
/// 400 `validation_failed`, also for a body without any known member; 404 `oauth_client_not_found`.
pub(crate) async fn update_client(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
    Json(body): Json<ClientBody>,
) -> Result<HttpResponse, AuthError> {
    let mut known = find_client(&state, &id).await?;
    let mut is_empty = true;
    let mut given = |is_given: bool| {
        is_empty &= !is_given;
        is_given
    };
    if given(body.redirect_uris.is_some()) {
        known.redirect_uris = body.redirect_uris.unwrap_or_default();
        check_redirect_uris(&known.redirect_uris)?;
    }
    if given(body.grant_types.is_some()) {
        known.grant_types = body.grant_types.unwrap_or_default();
        check_grant_types(&known.grant_types)?;
    }
    if given(body.token_endpoint_auth_method.is_some()) {
        let method = parse_method(&body.token_endpoint_auth_method.unwrap_or_default())?;
        choose_client_type(&known.client_type, method)?;
        known.auth_method = method.to_owned();
    }
    for (text, given_text) in [
        (&mut known.name, body.client_name),
        (&mut known.uri, body.client_uri),
        (&mut known.logo_uri, body.logo_uri),
    ] {
        if given(given_text.is_some()) {
            *text = given_text.unwrap_or_default();
        }
    }
    if is_empty {
        return Err(AuthError::invalid("No fields provided for update"));
    }
    check_texts(&known.name, &known.uri, &known.logo_uri)?;
    known.updated_at = state.now();
    let client = state.connect().await?;
    oauth_clients::upsert(&client, &known).await?;
    Ok(HttpResponse::Ok().json(ClientResponse::new(&known, None)))
}

/// `DELETE /admin/oauth/clients/{id}` → 204. All sessions of the client end.
///
/// # Errors
/// 404 `oauth_client_not_found`.
pub(crate) async fn delete_client(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let known = find_client(&state, &id).await?;
    let mut client = state.connect().await?;
    let db = client.transaction().await?;
    oauth_clients::delete(&db, known.id, state.now()).await?;
    db.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}

/// `POST /admin/oauth/clients/{id}/regenerate_secret` → 200 with the client and its new secret; the old one is
/// invalid at once.
///
/// # Errors
/// 400 `validation_failed` for a public client, 404 `oauth_client_not_found`.
pub(crate) async fn regenerate_secret(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let mut known = find_client(&state, &id).await?;
    if known.is_public() {
        return Err(AuthError::invalid("Cannot regenerate secret for public client"));
    }
    let (secret, hash) = generate_secret();
    known.secret_hash = hash;
    known.updated_at = state.now();
    let client = state.connect().await?;
    oauth_clients::upsert(&client, &known).await?;
    Ok(HttpResponse::Ok()
        .insert_header(("Cache-Control", "no-store"))
        .json(ClientResponse::new(&known, Some(&secret))))
}
