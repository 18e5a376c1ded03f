//! Reads the metadata of an identity provider.

use chrono::{DateTime, TimeDelta, Utc};
use url::Url;

use crate::base64_text::decode_base64;
use crate::crypto::PublicKey;
use crate::names::{METADATA_NS, Name, REDIRECT_BINDING, SIGNATURE_NS};
use crate::time::{parse_duration, parse_time};
use crate::xml::{Document, ElementId, ParseError, parse_document};

const fn md(local: &'static str) -> Name {
    (METADATA_NS, local)
}

/// The metadata of an identity provider that sign-in needs.
#[derive(Debug, Clone, PartialEq)]
pub struct IdentityProvider {
    /// The name by which assertions and this service know the provider.
    pub entity_id: String,
    /// Keys that sign its assertions. Certificates that cannot be read are left out.
    pub keys: Vec<PublicKey>,
    /// Where browsers are sent with a request, by the HTTP-Redirect binding.
    pub redirect_location: Option<String>,
    /// Until when the metadata may be used.
    pub valid_until: Option<DateTime<Utc>>,
    /// How long the metadata may be kept before it is fetched again.
    pub cache_duration: Option<TimeDelta>,
}

/// Why a document is not metadata of an identity provider. The texts are shown to administrators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The bytes are not UTF-8.
    #[error("SAML Metadata XML contains invalid UTF-8 characters, which are not supported at this time")]
    NotUtf8,
    /// The document is refused.
    #[error("SAML Metadata XML is not valid: {0}")]
    Document(ParseError),
    /// The root is neither an entity nor a list of entities.
    #[error("SAML Metadata XML is not valid: the root element is no EntityDescriptor")]
    Root,
    /// The entity id is missing.
    #[error("SAML Metadata does not contain an EntityID")]
    NoEntityId,
    /// The role descriptor of an identity provider is missing.
    #[error("SAML Metadata does not contain any IDPSSODescriptor")]
    NoIdentityProvider,
    /// More than one identity provider of the same name.
    #[error("SAML Metadata contains multiple IDPSSODescriptors")]
    SeveralIdentityProviders,
    /// A date or duration is malformed.
    #[error("SAML Metadata contains an invalid validUntil or cacheDuration")]
    Time,
    /// A service at something else than an http or https URL.
    #[error("SAML Metadata contains a Location that is not a http or https URL")]
    Location,
}

/// Reads metadata: an `EntityDescriptor`, or the first identity provider of an `EntitiesDescriptor`.
///
/// # Errors
/// [`MetadataError`].
pub fn parse_identity_provider(xml: &[u8]) -> Result<IdentityProvider, MetadataError> {
    if std::str::from_utf8(xml).is_err() {
        return Err(MetadataError::NotUtf8);
    }
    let document = parse_document(xml).map_err(MetadataError::Document)?;
    let entity = find_entity(&document)?;
    // The entity's signature, if it has one, is not checked: the metadata come from an administrator or over https.
    let entity_id = document.attribute(entity, "entityID").unwrap_or_default();
    if entity_id.is_empty() {
        return Err(MetadataError::NoEntityId);
    }
    let mut descriptors = document.children_named(entity, md("IDPSSODescriptor"));
    let descriptor = descriptors.next().ok_or(MetadataError::NoIdentityProvider)?;
    if descriptors.next().is_some() {
        return Err(MetadataError::SeveralIdentityProviders);
    }
    let redirect_location = read_locations(&document, descriptor)?;
    let valid_until = document.attribute(entity, "validUntil").map(parse_time);
    let cache_duration = document.attribute(entity, "cacheDuration").map(parse_duration);
    if valid_until == Some(None) || cache_duration == Some(None) {
        return Err(MetadataError::Time);
    }
    Ok(IdentityProvider {
        entity_id: entity_id.to_owned(),
        keys: read_keys(&document, descriptor),
        redirect_location,
        valid_until: valid_until.flatten(),
        cache_duration: cache_duration.flatten(),
    })
}

fn find_entity(document: &Document) -> Result<ElementId, MetadataError> {
    let root = document.root();
    if document.is(root, md("EntityDescriptor")) {
        return Ok(root);
    }
    if !document.is(root, md("EntitiesDescriptor")) {
        return Err(MetadataError::Root);
    }
    let mut entities = document.children_named(root, md("EntityDescriptor"));
    let found = entities.find(|entity| document.child(*entity, md("IDPSSODescriptor")).is_some());
    found.ok_or(MetadataError::NoIdentityProvider)
}

/// The keys of all `KeyDescriptor`s whose use is signing, or not limited.
fn read_keys(document: &Document, descriptor: ElementId) -> Vec<PublicKey> {
    let descriptors = document.children_named(descriptor, md("KeyDescriptor"));
    let for_signing =
        descriptors.filter(|id| matches!(document.attribute(*id, "use"), None | Some("" | "signing")));
    let infos = for_signing.flat_map(|id| document.children_named(id, (SIGNATURE_NS, "KeyInfo")));
    let data = infos.flat_map(|id| document.children_named(id, (SIGNATURE_NS, "X509Data")));
    let certificates = data.flat_map(|id| document.children_named(id, (SIGNATURE_NS, "X509Certificate")));
    certificates
        .filter_map(|id| PublicKey::from_certificate(&decode_base64(&document.text(id))?))
        .collect()
}

/// Checks the locations of all services and returns the first that browsers can be redirected to.
fn read_locations(document: &Document, descriptor: ElementId) -> Result<Option<String>, MetadataError> {
    let mut redirect = None;
    for service in document.children_named(descriptor, md("SingleSignOnService")) {
        let location = document.attribute(service, "Location").unwrap_or_default();
        // Browsers are sent there, and must not be sent to `javascript:` or `data:` URLs.
        let url = Url::parse(location).map_err(|_| MetadataError::Location)?;
        // `Url::parse` drops spaces and line breaks, which the header of a redirect must not contain.
        let has_spaces = location.contains(|c: char| c.is_whitespace() || c.is_control());
        if has_spaces || !matches!(url.scheme(), "http" | "https") {
            return Err(MetadataError::Location);
        }
        if redirect.is_none() && document.attribute(service, "Binding") == Some(REDIRECT_BINDING) {
            redirect = Some(location.to_owned());
        }
    }
    Ok(redirect)
}
