//! `/admin/sso/providers`: the SAML identity providers of a project.
//!
//! Compat: administrators can manage the list while SAML is off, as with upstream; `/sso` then responds
//! `saml_provider_disabled`. Source: Auth contract §2.14, §2.15.

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::error::{AuthError, FederationError};
use crate::http_client::Call;
use crate::request::{Admin, Json, read_text};
use crate::state::AuthState;
use crate::store::sso_providers::{self, SsoProvider, SsoProviderBody};
use crate::validation::saml_metadata;

/// Prefix of a path segment that names a provider by `resource_id` instead of its id.
const RESOURCE_PREFIX: &str = "resource_";
/// Accepted values of `name_id_format` (SAML 2.0 Core §8.3).
const NAME_ID_FORMATS: [&str; 4] = [
    "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
    "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
    "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified",
];

/// Body of POST and PUT; on PUT a missing member keeps its value. `type` is `saml`; a new provider needs either
/// `metadata_url` (https) or `metadata_xml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SsoBody {
    #[serde(rename = "type", deserialize_with = "read_text")]
    kind: String,
    #[serde(deserialize_with = "read_text")]
    metadata_url: String,
    #[serde(deserialize_with = "read_text")]
    metadata_xml: String,
    domains: Option<Vec<String>>,
    attribute_mapping: Option<Value>,
    #[serde(deserialize_with = "read_text")]
    name_id_format: String,
    resource_id: Option<String>,
    disabled: Option<bool>,
}

/// Checks the members that need no other service.
///
/// # Errors
/// 400 `validation_failed`.
fn check_body(body: &SsoBody, is_new: bool) -> Result<(), AuthError> {
    if is_new && body.kind != "saml" {
        return Err(AuthError::invalid("Only 'saml' supported for SSO provider type"));
    }
    match (body.metadata_url.is_empty(), body.metadata_xml.is_empty()) {
        (false, false) => {
            return Err(AuthError::invalid(
                "Only one of metadata_xml or metadata_url needs to be set",
            ));
        }
        (true, true) if is_new => {
            return Err(AuthError::invalid(
                "Either metadata_xml or metadata_url must be set",
            ));
        }
        _ => {}
    }
    if !body.metadata_url.is_empty() {
        let url = url::Url::parse(&body.metadata_url);
        let url = url.map_err(|_| AuthError::invalid("metadata_url is not a valid URL"))?;
        if url.scheme() != "https" {
            return Err(AuthError::invalid("metadata_url is not a HTTPS URL"));
        }
    }
    if !body.name_id_format.is_empty() && !NAME_ID_FORMATS.contains(&body.name_id_format.as_str()) {
        return Err(AuthError::invalid(format!(
            "name_id_format must be unspecified or one of {}",
            NAME_ID_FORMATS.join(", ")
        )));
    }
    if body.resource_id.as_deref() == Some("") {
        return Err(AuthError::invalid("resource_id must not be empty"));
    }
    Ok(())
}

/// The metadata document, fetched if only its URL is given, and its entity id; `None` when the body has neither.
///
/// # Errors
/// 400 `saml_metadata_fetch_failed`, or `validation_failed` for a document that is not SAML metadata.
async fn fetch_metadata(state: &AuthState, body: &SsoBody) -> Result<Option<(String, String)>, AuthError> {
    let xml = if !body.metadata_xml.is_empty() {
        body.metadata_xml.clone()
    } else if !body.metadata_url.is_empty() {
        match state.http.send(Call::get(&body.metadata_url)).await {
            Ok(response) if response.status == 200 => {
                String::from_utf8(response.body.to_vec()).map_err(|_| {
                    AuthError::invalid(
                        "SAML Metadata XML contains invalid UTF-8 characters, which are not supported",
                    )
                })?
            }
            // The cause is not part of the response, which would tell about the network behind the server.
            _ => return Err(FederationError::MetadataFetchFailed.into()),
        }
    } else {
        return Ok(None);
    };
    let entity_id = saml_metadata::read_entity_id(&xml).map_err(AuthError::invalid)?;
    Ok(Some((xml, entity_id)))
}

/// Refuses domains of another provider, because a sign-in by domain must lead to one provider. `own` is the provider
/// to be changed.
///
/// # Errors
/// 400 `sso_domain_already_exists` or `validation_failed`.
async fn check_domains(state: &AuthState, domains: &[String], own: Option<Uuid>) -> Result<(), AuthError> {
    let client = state.connect().await?;
    for domain in domains {
        if domain.is_empty() {
            return Err(AuthError::invalid("domains must not be empty"));
        }
        let owner = sso_providers::find_by_domain(&client, domain).await?;
        if owner.is_some_and(|owner| Some(owner) != own) {
            return Err(FederationError::DomainExists.into());
        }
    }
    Ok(())
}

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

/// Body of the list.
#[derive(Serialize)]
struct SsoProviderList {
    items: Vec<SsoProviderBody>,
}

/// `GET /admin/sso/providers` → 200 `{items: […]}`.
pub(crate) async fn list_providers(state: web::Data<AuthState>, _: Admin) -> Result<HttpResponse, AuthError> {
    let client = state.connect().await?;
    let items = sso_providers::list_all(&client).await?;
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
/// 400 `validation_failed`, `saml_metadata_fetch_failed` or `sso_domain_already_exists`; 422
/// `saml_idp_already_exists`.
pub(crate) async fn create_provider(
    state: web::Data<AuthState>,
    _: Admin,
    Json(body): Json<SsoBody>,
) -> Result<HttpResponse, AuthError> {
    check_body(&body, true)?;
    let (metadata_xml, entity_id) = fetch_metadata(&state, &body)
        .await?
        .ok_or_else(|| AuthError::invalid("Either metadata_xml or metadata_url must be set"))?;
    let domains = body.domains.unwrap_or_default();
    {
        let client = state.connect().await?;
        if sso_providers::find_by_entity(&client, &entity_id)
            .await?
            .is_some()
        {
            return Err(FederationError::EntityIdExists.into());
        }
    }
    check_domains(&state, &domains, None).await?;
    let new = SsoProvider {
        id: Uuid::new_v4(),
        resource_id: body.resource_id,
        disabled: body.disabled,
        entity_id,
        metadata_xml,
        metadata_url: Some(body.metadata_url).filter(|url| !url.is_empty()),
        attribute_mapping: body.attribute_mapping.unwrap_or_else(|| json!({})),
        name_id_format: Some(body.name_id_format).filter(|format| !format.is_empty()),
        domains,
    };
    save_provider(&state, &new).await?;
    Ok(HttpResponse::Created().json(find_provider(&state, &new.id.to_string()).await?))
}

/// Inserts or replaces the provider and its domains in one transaction.
async fn save_provider(state: &AuthState, provider: &SsoProvider) -> Result<(), AuthError> {
    let mut client = state.connect().await?;
    let db = client.transaction().await?;
    sso_providers::upsert(&db, provider, state.now()).await?;
    db.commit().await?;
    Ok(())
}

/// `PUT /admin/sso/providers/{id}` → 200 with the provider. A member of the body replaces the stored one. The entity
/// id never changes, because it identifies the provider in SAML messages.
///
/// # Errors
/// 404 `sso_provider_not_found`; 400 `saml_entity_id_mismatch` for metadata of another provider, and those of
/// [`create_provider`].
pub(crate) async fn update_provider(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
    Json(body): Json<SsoBody>,
) -> Result<HttpResponse, AuthError> {
    let known = find_provider(&state, &id).await?;
    check_body(&body, false)?;
    let domains = known.domains.into_iter().map(|domain| domain.domain);
    let mut changed = SsoProvider {
        id: known.id,
        resource_id: body.resource_id.clone().or(known.resource_id),
        disabled: body.disabled.or(known.disabled),
        entity_id: known.saml.entity_id,
        metadata_xml: known.saml.metadata_xml.unwrap_or_default(),
        metadata_url: known.saml.metadata_url,
        attribute_mapping: body
            .attribute_mapping
            .clone()
            .unwrap_or(known.saml.attribute_mapping),
        name_id_format: known.saml.name_id_format,
        domains: domains.collect(),
    };
    if let Some((xml, entity_id)) = fetch_metadata(&state, &body).await? {
        // Another entity id is another identity provider, whose users are other people.
        if entity_id != changed.entity_id {
            return Err(FederationError::EntityIdMismatch.into());
        }
        changed.metadata_xml = xml;
    }
    if !body.metadata_url.is_empty() {
        changed.metadata_url = Some(body.metadata_url);
    }
    if !body.name_id_format.is_empty() {
        changed.name_id_format = Some(body.name_id_format);
    }
    if let Some(domains) = body.domains {
        check_domains(&state, &domains, Some(changed.id)).await?;
        changed.domains = domains;
    }
    save_provider(&state, &changed).await?;
    Ok(HttpResponse::Ok().json(find_provider(&state, &changed.id.to_string()).await?))
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
