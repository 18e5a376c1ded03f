//! Programs of the OAuth server: `POST /oauth/clients/register` for themselves, `/admin/oauth/clients` for administrators.
//!
//! Source: Auth contract §2.15, §2.16, AUTH-099.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use crate::error::AuthError;
use crate::limits::Limited;
use crate::request::{Admin, Json, RequestInfo, text};
use crate::rules::oauth_client::{
    check_grant_types, check_redirect_uris, check_texts, client_kind, new_secret, parse_method,
};
use crate::state::AuthState;
use crate::store::oauth_clients::{self, OauthClient};

/// What is registered.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ClientBody {
    redirect_uris: Option<Vec<String>>,
    grant_types: Option<Vec<String>>,
    #[serde(deserialize_with = "text")]
    client_type: String,
    token_endpoint_auth_method: Option<String>,
    client_name: Option<String>,
    client_uri: Option<String>,
    logo_uri: Option<String>,
}

/// 404 while the OAuth server is off.
pub(crate) fn check_enabled(state: &AuthState) -> Result<(), AuthError> {
    if state.config.oauth_server.enabled {
        return Ok(());
    }
    Err(AuthError::FeatureOff {
        status: 404,
        code: "feature_disabled",
        text: "OAuth server is disabled",
    })
}

/// `POST /oauth/clients/register` → 201
pub(crate) async fn register(
    state: web::Data<AuthState>,
    info: RequestInfo,
    Json(body): Json<ClientBody>,
) -> Result<HttpResponse, AuthError> {
    check_enabled(&state)?;
    if !state.config.oauth_server.allow_dynamic_registration {
        return Err(AuthError::FeatureOff {
            status: 403,
            code: "oauth_dynamic_client_registration_disabled",
            text: "Dynamic client registration is not enabled",
        });
    }
    info.limit(&state, Limited::RegisterClient)?;
    create(&state, body, "dynamic").await
}

/// `POST /admin/oauth/clients` → 201
pub(crate) async fn create_client(
    state: web::Data<AuthState>,
    _: Admin,
    Json(body): Json<ClientBody>,
) -> Result<HttpResponse, AuthError> {
    check_enabled(&state)?;
    create(&state, body, "manual").await
}

async fn create(state: &AuthState, body: ClientBody, registration: &str) -> Result<HttpResponse, AuthError> {
    let redirect_uris = body.redirect_uris.unwrap_or_default();
    check_redirect_uris(&redirect_uris)?;
    let grant_types = body.grant_types.filter(|types| !types.is_empty());
    let grant_types =
        grant_types.unwrap_or_else(|| vec!["authorization_code".to_owned(), "refresh_token".to_owned()]);
    check_grant_types(&grant_types)?;
    let optional = |text: Option<String>| text.unwrap_or_default();
    let method = optional(body.token_endpoint_auth_method);
    let (client_type, auth_method) = client_kind(&body.client_type, &method)?;
    let (secret, hash) = match client_type {
        "public" => (None, String::new()),
        _ => {
            let (secret, hash) = new_secret();
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
    let client = state.client().await?;
    oauth_clients::put(&client, &new).await?;
    Ok(HttpResponse::Created()
        .insert_header(("Cache-Control", "no-store"))
        .json(new.body(secret.as_deref())))
}

/// `GET /admin/oauth/clients`
pub(crate) async fn list_clients(state: web::Data<AuthState>, _: Admin) -> Result<HttpResponse, AuthError> {
    check_enabled(&state)?;
    let client = state.client().await?;
    let all = oauth_clients::list_all(&client).await?;
    if all.is_empty() {
        return Ok(HttpResponse::Ok().json(json!({})));
    }
    let clients: Vec<_> = all.iter().map(|client| client.body(None)).collect();
    Ok(HttpResponse::Ok().json(json!({ "clients": clients })))
}

async fn find(state: &AuthState, id: &str) -> Result<OauthClient, AuthError> {
    check_enabled(state)?;
    let id: Uuid = id
        .parse()
        .map_err(|_| AuthError::invalid("invalid client_id format"))?;
    let client = state.client().await?;
    oauth_clients::find_by_id(&client, id)
        .await?
        .ok_or(AuthError::FeatureOff {
            status: 404,
            code: "oauth_client_not_found",
            text: "OAuth client not found",
        })
}

/// `GET /admin/oauth/clients/{id}`
pub(crate) async fn get_client(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    Ok(HttpResponse::Ok().json(find(&state, &id).await?.body(None)))
}

/// `PUT /admin/oauth/clients/{id}`: what is given replaces what was there.
pub(crate) async fn update_client(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
    Json(body): Json<ClientBody>,
) -> Result<HttpResponse, AuthError> {
    let mut known = find(&state, &id).await?;
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
        client_kind(&known.client_type, method)?;
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
    let client = state.client().await?;
    oauth_clients::put(&client, &known).await?;
    Ok(HttpResponse::Ok().json(known.body(None)))
}

/// `DELETE /admin/oauth/clients/{id}` → 204
pub(crate) async fn delete_client(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let known = find(&state, &id).await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    oauth_clients::delete(&db, known.id, state.now()).await?;
    db.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}

/// `POST /admin/oauth/clients/{id}/regenerate_secret`
pub(crate) async fn regenerate_secret(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let mut known = find(&state, &id).await?;
    if known.is_public() {
        return Err(AuthError::invalid("Cannot regenerate secret for public client"));
    }
    let (secret, hash) = new_secret();
    known.secret_hash = hash;
    known.updated_at = state.now();
    let client = state.client().await?;
    oauth_clients::put(&client, &known).await?;
    Ok(HttpResponse::Ok()
        .insert_header(("Cache-Control", "no-store"))
        .json(known.body(Some(&secret))))
}
