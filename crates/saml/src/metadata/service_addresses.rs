//! Reads the metadata of a service provider as far as an administrator must copy it to an identity provider.

use super::identity_provider::MetadataError;
use crate::names::{METADATA_NS, Name, POST_BINDING};
use crate::xml::parse_document;

const fn md(local: &'static str) -> Name {
    (METADATA_NS, local)
}

/// The addresses of a service provider that an identity provider needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceAddresses {
    /// Its name, which is the audience of assertions.
    pub entity_id: String,
    /// URL of the assertion consumer service, to which browsers post responses.
    pub acs_url: String,
}

/// Reads the metadata of a service provider.
///
/// # Errors
/// [`MetadataError`] for a document that is not metadata, or that has no address for posted responses.
pub fn parse_service_addresses(xml: &[u8]) -> Result<ServiceAddresses, MetadataError> {
    let document = parse_document(xml).map_err(MetadataError::Document)?;
    let root = document.root();
    if !document.is(root, md("EntityDescriptor")) {
        return Err(MetadataError::Root);
    }
    let entity_id = document.attribute(root, "entityID").unwrap_or_default();
    if entity_id.is_empty() {
        return Err(MetadataError::NoEntityId);
    }
    let services = document
        .children_named(root, md("SPSSODescriptor"))
        .flat_map(|descriptor| document.children_named(descriptor, md("AssertionConsumerService")));
    let mut posts = services.filter(|id| document.attribute(*id, "Binding") == Some(POST_BINDING));
    let acs_url = posts.find_map(|id| document.attribute(id, "Location"));
    Ok(ServiceAddresses {
        entity_id: entity_id.to_owned(),
        acs_url: acs_url.ok_or(MetadataError::Location)?.to_owned(),
    })
}
