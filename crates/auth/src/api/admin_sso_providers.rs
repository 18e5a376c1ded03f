//! `/admin/sso/providers`: the SAML identity providers of a project.
//!
//! Compat: administrators can manage the list while SAML is off, as with upstream; `/sso` then responds
//! `saml_provider_disabled`. Source: SAML contract §7.

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{AuthError, FederationError};
use crate::flows::saml::manage_providers::{self, SsoBody};
use crate::request::{Admin, Json};
use crate::state::AuthState;
use crate::store::sso_providers::{self, SsoProviderBody};

/// Prefix of a path segment that names a provider by `resource_id` instead of its id.
const RESOURCE_PREFIX: &str = "resource_";

/// The provider named by `{id}` or `resource_{resource_id}`.
///
/// # Errors
/// 404 `sso_provider_not_found`, also for an id that is not a UUID.
async fn find_provider(state: &AuthState, path: &str) -> Result<SsoProviderBody, AuthError> {
    let (id, resource_id) = match path.strip_prefix(RESOURCE_PREFIX) {
        Some(resource_id) => (None, Some(resource_id)),
        None => (path.parse::<Uuid>().ok(), None),
    };
    let client = state.connect().await?;
    let found = sso_providers::find_body(&client, id, resource_id).await?;
    found.ok_or_else(|| FederationError::SsoProviderNotFound.into())
}

/// Query of the list: all providers, the one with a resource id, or those whose resource id begins with a text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ListQuery {
    resource_id: String,
    resource_id_prefix: String,
}

/// Body of the list.
#[derive(Serialize)]
struct SsoProviderList {
    items: Vec<SsoProviderBody>,
}

/// `GET /admin/sso/providers?resource_id=&resource_id_prefix=` → 200 `{items: […]}`.
pub(crate) async fn list_providers(
    state: web::Data<AuthState>,
    _: Admin,
    query: web::Query<ListQuery>,
) -> Result<HttpResponse, AuthError> {
    let client = state.connect().await?;
    let items = sso_providers::list_all(&client, &query.resource_id, &query.resource_id_prefix).await?;
    Ok(HttpResponse::Ok().json(SsoProviderList { items }))
}

/// `GET /admin/sso/providers/{id}` → 200 `{id, resource_id?, disabled, saml, domains, created_at, updated_at}`.
///
/// # Errors
/// 404 `sso_provider_not_found`.
pub(crate) async fn get_provider(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    Ok(HttpResponse::Ok().json(find_provider(&state, &id).await?))
}

/// `POST /admin/sso/providers` → 201 with the provider.
///
/// # Errors
/// Those of [`manage_providers::create_provider`].
pub(crate) async fn create_provider(
    state: web::Data<AuthState>,
    _: Admin,
    Json(body): Json<SsoBody>,
) -> Result<HttpResponse, AuthError> {
    let id = manage_providers::create_provider(&state, body).await?;
    Ok(HttpResponse::Created().json(find_provider(&state, &id.to_string()).await?))
}

/// `PUT /admin/sso/providers/{id}` → 200 with the provider. A member of the body replaces the stored one.
///
/// # Errors
/// 404 `sso_provider_not_found`, also for a malformed body; those of [`manage_providers::update_provider`].
pub(crate) async fn update_provider(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
    body: Result<Json<SsoBody>, AuthError>,
) -> Result<HttpResponse, AuthError> {
    let known = find_provider(&state, &id).await?;
    let (id, Json(body)) = (known.id, body?);
    manage_providers::update_provider(&state, known, body).await?;
    Ok(HttpResponse::Ok().json(find_provider(&state, &id.to_string()).await?))
}

/// `DELETE /admin/sso/providers/{id}` → 200 with the provider as it was.
///
/// # Errors
/// 404 `sso_provider_not_found`.
pub(crate) async fn delete_provider(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let known = find_provider(&state, &id).await?;
    let client = state.connect().await?;
    sso_providers::delete(&client, known.id).await?;
    Ok(HttpResponse::Ok().json(known))
}
