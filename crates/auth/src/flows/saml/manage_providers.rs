//! Creating and changing SAML providers, for administrators. Source: SAML contract §7, §8.

use selvedge_saml::{MetadataError, name_id_format, parse_identity_provider};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use super::provider_metadata::fetch_metadata;
use crate::error::{AuthError, FederationError};
use crate::request::read_text;
use crate::state::AuthState;
use crate::store::sso_providers::{self, SsoProvider, SsoProviderBody};
use crate::validation::attribute_mapping::SamlAttributeMapping;

/// Accepted values of `name_id_format` (SAML 2.0 Core §8.3).
const NAME_ID_FORMATS: [&str; 4] = [
    name_id_format::PERSISTENT,
    name_id_format::EMAIL_ADDRESS,
    name_id_format::TRANSIENT,
    name_id_format::UNSPECIFIED,
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
    attribute_mapping: Option<SamlAttributeMapping>,
    #[serde(deserialize_with = "read_text")]
    name_id_format: String,
    resource_id: Option<String>,
    disabled: Option<bool>,
}

impl SsoBody {
    /// Checks the members that need no other service.
    ///
    /// # Errors
    /// 400 `validation_failed`.
    fn check(&self, is_new: bool) -> Result<(), AuthError> {
        if is_new && self.kind != "saml" {
            return Err(AuthError::invalid("Only 'saml' supported for SSO provider type"));
        }
        let (has_url, has_xml) = (!self.metadata_url.is_empty(), !self.metadata_xml.is_empty());
        if has_url && has_xml {
            return Err(AuthError::invalid(
                "Only one of metadata_xml or metadata_url needs to be set",
            ));
        }
        if is_new && !has_url && !has_xml {
            return Err(AuthError::invalid(
                "Either metadata_xml or metadata_url must be set",
            ));
        }
        if has_url {
            check_metadata_url(&self.metadata_url)?;
        }
        let format = self.name_id_format.as_str();
        if !format.is_empty() && !NAME_ID_FORMATS.contains(&format) {
            return Err(AuthError::invalid(format!(
                "name_id_format must be unspecified or one of {}",
                NAME_ID_FORMATS.join(", ")
            )));
        }
        Ok(())
    }

    /// The domains in lower case, each once; `None` when the body does not name any.
    ///
    /// # Errors
    /// 400 `validation_failed` for an empty domain.
    fn read_domains(&self) -> Result<Option<Vec<String>>, AuthError> {
        let Some(given) = &self.domains else {
            return Ok(None);
        };
        if given.iter().any(String::is_empty) {
            return Err(AuthError::invalid("domains must not be empty"));
        }
        let mut domains: Vec<String> = Vec::new();
        for domain in given.iter().map(|domain| domain.to_lowercase()) {
            if !domains.contains(&domain) {
                domains.push(domain);
            }
        }
        Ok(Some(domains))
    }

    /// The mapping, if the body has one with `keys`.
    ///
    /// # Errors
    /// 400 `bad_json` for a mapping of another form.
    fn take_mapping(&mut self) -> Result<Option<Value>, AuthError> {
        let mapping = self
            .attribute_mapping
            .take()
            .filter(|mapping| mapping.keys.is_some());
        let Some(mapping) = mapping else { return Ok(None) };
        let bad = |error: serde_json::Error| AuthError::BadJson(error.to_string());
        let mapping = mapping.normalize().map_err(bad)?;
        serde_json::to_value(mapping).map(Some).map_err(bad)
    }
}

fn check_metadata_url(text: &str) -> Result<(), AuthError> {
    // Compat: a path has a message of its own, because upstream parses it as a relative URL.
    if text.starts_with('/') {
        return Err(AuthError::invalid("metadata_url is not a HTTPS URL"));
    }
    let url = url::Url::parse(text).map_err(|_| AuthError::invalid("metadata_url is not a valid URL"))?;
    if url.scheme() != "https" {
        return Err(AuthError::invalid("metadata_url is not a HTTPS URL"));
    }
    Ok(())
}

/// The metadata document, fetched if only its URL is given, and its entity id; `None` when the body has neither.
///
/// # Errors
/// 400 `saml_metadata_fetch_failed`, or `validation_failed` for a document that is not SAML metadata.
async fn read_metadata(state: &AuthState, body: &SsoBody) -> Result<Option<(String, String)>, AuthError> {
    let xml = if !body.metadata_xml.is_empty() {
        body.metadata_xml.clone()
    } else if !body.metadata_url.is_empty() {
        fetch_metadata(state, &body.metadata_url).await?
    } else {
        return Ok(None);
    };
    let metadata = parse_identity_provider(xml.as_bytes())
        .map_err(|error: MetadataError| AuthError::invalid(error.to_string()))?;
    Ok(Some((xml, metadata.entity_id)))
}

/// Finds another provider that has one of the domains, because a sign-in by domain must lead to one provider. `own` is
/// the provider to be changed.
async fn find_domain_of_other(
    state: &AuthState,
    domains: &[String],
    own: Option<Uuid>,
) -> Result<Option<(String, Uuid)>, AuthError> {
    let client = state.connect().await?;
    for domain in domains {
        let owner = sso_providers::find_by_domain(&client, domain).await?;
        if let Some(owner) = owner.filter(|owner| Some(*owner) != own) {
            return Ok(Some((domain.clone(), owner)));
        }
    }
    Ok(None)
}

/// Creates a provider and returns its id.
///
/// # Errors
/// 400 `validation_failed`, `saml_metadata_fetch_failed` or `sso_domain_already_exists`; 422
/// `saml_idp_already_exists` or `conflict`.
pub(crate) async fn create_provider(state: &AuthState, mut body: SsoBody) -> Result<Uuid, AuthError> {
    let mapping = body.take_mapping()?;
    body.check(true)?;
    let (metadata_xml, entity_id) = read_metadata(state, &body)
        .await?
        .ok_or_else(|| AuthError::invalid("Either metadata_xml or metadata_url must be set"))?;
    let domains = body.read_domains()?.unwrap_or_default();
    // Checked here for the message; the unique keys decide when two administrators are at it at once.
    let known = sso_providers::find_by_entity(&state.connect().await?, &entity_id).await?;
    if known.is_some() {
        return Err(FederationError::EntityIdExists(entity_id).into());
    }
    if let Some((domain, provider)) = find_domain_of_other(state, &domains, None).await? {
        return Err(FederationError::DomainExists { domain, provider }.into());
    }
    let new = SsoProvider {
        id: Uuid::new_v4(),
        resource_id: body.resource_id.filter(|id| !id.is_empty()),
        disabled: body.disabled,
        entity_id,
        metadata_xml,
        metadata_url: Some(body.metadata_url).filter(|url| !url.is_empty()),
        attribute_mapping: mapping.unwrap_or_else(|| json!({})),
        name_id_format: Some(body.name_id_format).filter(|format| !format.is_empty()),
        domains,
    };
    save_provider(state, &new).await?;
    Ok(new.id)
}

/// Changes a provider. The entity id never changes, because it identifies the provider in SAML messages.
///
/// # Errors
/// 400 `saml_entity_id_mismatch` for metadata of another provider, and those of [`create_provider`].
pub(crate) async fn update_provider(
    state: &AuthState,
    known: SsoProviderBody,
    mut body: SsoBody,
) -> Result<(), AuthError> {
    let mapping = body.take_mapping()?;
    body.check(false)?;
    let domains = known.domains.into_iter().map(|domain| domain.domain);
    let mut changed = SsoProvider {
        id: known.id,
        resource_id: body
            .resource_id
            .clone()
            .or(known.resource_id)
            .filter(|id| !id.is_empty()),
        disabled: body.disabled.or(known.disabled),
        entity_id: known.saml.entity_id,
        metadata_xml: known.saml.metadata_xml.unwrap_or_default(),
        metadata_url: known.saml.metadata_url,
        attribute_mapping: known.saml.attribute_mapping,
        name_id_format: known.saml.name_id_format,
        domains: domains.collect(),
    };
    let metadata = read_metadata(state, &body).await?;
    if !body.name_id_format.is_empty() {
        changed.name_id_format = Some(body.name_id_format.clone());
    }
    if let Some((xml, entity_id)) = metadata {
        check_entity(&changed.entity_id, entity_id)?;
        changed.metadata_xml = xml;
    }
    if let Some(mapping) = mapping {
        changed.attribute_mapping = mapping;
    }
    if let Some(domains) = body.read_domains()? {
        if let Some((domain, provider)) = find_domain_of_other(state, &domains, Some(changed.id)).await? {
            return Err(FederationError::DomainOfOther { domain, provider }.into());
        }
        changed.domains = domains;
    }
    if !body.metadata_url.is_empty() {
        changed.metadata_url = Some(body.metadata_url);
    }
    save_provider(state, &changed).await
}

/// Another entity id is another identity provider, whose users are other people.
fn check_entity(expected: &str, got: String) -> Result<(), FederationError> {
    if got == expected {
        return Ok(());
    }
    Err(FederationError::EntityIdMismatch {
        expected: expected.to_owned(),
        got,
    })
}

/// Inserts or replaces the provider and its domains in one transaction.
///
/// # Errors
/// 422 `conflict` when another provider has the resource id, or has got a domain or the entity id in the meantime.
async fn save_provider(state: &AuthState, provider: &SsoProvider) -> Result<(), AuthError> {
    let mut client = state.connect().await?;
    let db = client.transaction().await?;
    sso_providers::upsert(&db, provider, state.now())
        .await
        .map_err(|error| {
            if error.code() == Some(&SqlState::UNIQUE_VIOLATION) {
                FederationError::SsoProviderConflict.into()
            } else {
                AuthError::from(error)
            }
        })?;
    db.commit().await?;
    Ok(())
}
