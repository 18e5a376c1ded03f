//! `/admin/sso/providers`: identity providers of companies, kept for the day that SAML sign-in is served.
//!
//! As with upstream, administrators may keep the list while SAML is off; `/sso` answers `saml_provider_disabled` all the same.
//! Source: Auth contract §2.14, §2.15.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::error::AuthError;
use crate::http_client::Call;
use crate::request::{Admin, Json, text};
use crate::rules::saml_metadata;
use crate::state::AuthState;
use crate::store::sso_providers::{self, SsoProvider};

const RESOURCE_PREFIX: &str = "resource_";
const NAME_ID_FORMATS: [&str; 4] = [
    "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
    "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
    "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified",
];

/// What is added or changed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SsoBody {
    #[serde(rename = "type", deserialize_with = "text")]
    kind: String,
    #[serde(deserialize_with = "text")]
    metadata_url: String,
    #[serde(deserialize_with = "text")]
    metadata_xml: String,
    domains: Option<Vec<String>>,
    attribute_mapping: Option<Value>,
    #[serde(deserialize_with = "text")]
    name_id_format: String,
    resource_id: Option<String>,
    disabled: Option<bool>,
}

fn refuse(status: u16, code: &'static str, text: &'static str) -> AuthError {
    AuthError::FeatureOff { status, code, text }
}

fn check(body: &SsoBody, is_new: bool) -> Result<(), AuthError> {
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

/// The document and whose it is; `None` when none is given.
async fn metadata(state: &AuthState, body: &SsoBody) -> Result<Option<(String, String)>, AuthError> {
    let xml = if !body.metadata_xml.is_empty() {
        body.metadata_xml.clone()
    } else if !body.metadata_url.is_empty() {
        let failed = refuse(
            400,
            "saml_metadata_fetch_failed",
            "SAML Metadata could not be fetched from the URL",
        );
        match state.http.send(Call::get(&body.metadata_url)).await {
            Ok(answer) if answer.status == 200 => String::from_utf8(answer.body.to_vec()).map_err(|_| {
                AuthError::invalid(
                    "SAML Metadata XML contains invalid UTF-8 characters, which are not supported",
                )
            })?,
            _ => return Err(failed),
        }
    } else {
        return Ok(None);
    };
    let entity_id = saml_metadata::entity_id(&xml).map_err(AuthError::invalid)?;
    Ok(Some((xml, entity_id)))
}

async fn check_domains(state: &AuthState, domains: &[String], own: Option<Uuid>) -> Result<(), AuthError> {
    let client = state.client().await?;
    for domain in domains {
        if domain.is_empty() {
            return Err(AuthError::invalid("domains must not be empty"));
        }
        let owner = sso_providers::find_by_domain(&client, domain).await?;
        if owner.is_some_and(|owner| Some(owner) != own) {
            let text = "SSO Domain is already assigned to an SSO identity provider";
            return Err(refuse(400, "sso_domain_already_exists", text));
        }
    }
    Ok(())
}

/// The provider's body, by `{id}` or `resource_{resource_id}`.
async fn find(state: &AuthState, path: &str) -> Result<Value, AuthError> {
    let (id, resource_id) = match path.strip_prefix(RESOURCE_PREFIX) {
        Some(resource_id) => (None, Some(resource_id)),
        None => (path.parse::<Uuid>().ok(), None),
    };
    let client = state.client().await?;
    let found = sso_providers::find_body(&client, id, resource_id).await?;
    found.ok_or_else(|| refuse(404, "sso_provider_not_found", "SSO Identity Provider not found"))
}

/// `GET /admin/sso/providers`
pub(crate) async fn list_providers(state: web::Data<AuthState>, _: Admin) -> Result<HttpResponse, AuthError> {
    let client = state.client().await?;
    let items = sso_providers::list_all(&client).await?;
    Ok(HttpResponse::Ok().json(json!({ "items": items })))
}

/// `GET /admin/sso/providers/{id}`
pub(crate) async fn get_provider(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    Ok(HttpResponse::Ok().json(find(&state, &id).await?))
}

/// `POST /admin/sso/providers` → 201
pub(crate) async fn create_provider(
    state: web::Data<AuthState>,
    _: Admin,
    Json(body): Json<SsoBody>,
) -> Result<HttpResponse, AuthError> {
    check(&body, true)?;
    let (metadata_xml, entity_id) = metadata(&state, &body)
        .await?
        .ok_or_else(|| AuthError::invalid("Either metadata_xml or metadata_url must be set"))?;
    let domains = body.domains.unwrap_or_default();
    {
        let client = state.client().await?;
        if sso_providers::find_by_entity(&client, &entity_id)
            .await?
            .is_some()
        {
            let text = "SAML Identity Provider with this EntityID already exists";
            return Err(refuse(422, "saml_idp_already_exists", text));
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
    save(&state, &new).await?;
    Ok(HttpResponse::Created().json(find(&state, &new.id.to_string()).await?))
}

async fn save(state: &AuthState, provider: &SsoProvider) -> Result<(), AuthError> {
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    sso_providers::put(&db, provider, state.now()).await?;
    db.commit().await?;
    Ok(())
}

/// `PUT /admin/sso/providers/{id}`: what is given replaces what was there; the entity id never changes.
pub(crate) async fn update_provider(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
    Json(body): Json<SsoBody>,
) -> Result<HttpResponse, AuthError> {
    let known = find(&state, &id).await?;
    check(&body, false)?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let saml = &known["saml"];
    let domains = known["domains"].as_array().into_iter().flatten();
    let mut changed = SsoProvider {
        id: known["id"]
            .as_str()
            .and_then(|id| id.parse().ok())
            .unwrap_or_default(),
        resource_id: body.resource_id.clone().or_else(|| text(&known["resource_id"])),
        disabled: body.disabled.or(known["disabled"].as_bool()),
        entity_id: text(&saml["entity_id"]).unwrap_or_default(),
        metadata_xml: text(&saml["metadata_xml"]).unwrap_or_default(),
        metadata_url: text(&saml["metadata_url"]),
        attribute_mapping: body
            .attribute_mapping
            .clone()
            .unwrap_or_else(|| saml["attribute_mapping"].clone()),
        name_id_format: text(&saml["name_id_format"]),
        domains: domains.filter_map(|domain| text(&domain["domain"])).collect(),
    };
    if let Some((xml, entity_id)) = metadata(&state, &body).await? {
        if entity_id != changed.entity_id {
            let text = "SAML Metadata can be updated only if the EntityID matches for the provider";
            return Err(refuse(400, "saml_entity_id_mismatch", text));
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
    save(&state, &changed).await?;
    Ok(HttpResponse::Ok().json(find(&state, &changed.id.to_string()).await?))
}

/// `DELETE /admin/sso/providers/{id}` → 200 with the provider
pub(crate) async fn delete_provider(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let known = find(&state, &id).await?;
    let client = state.client().await?;
    let id = known["id"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .unwrap_or_default();
    sso_providers::delete(&client, id).await?;
    Ok(HttpResponse::Ok().json(known))
}
