//! Errors about identity providers that administrators configure: SAML providers and custom OAuth or OpenID Connect
//! providers.

use uuid::Uuid;

/// Why an administrator's request about a provider fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FederationError {
    #[error("SSO Identity Provider not found")]
    SsoProviderNotFound,
    /// The metadata URL does not respond 200.
    #[error("HTTP {status} error fetching SAML Metadata from URL '{url}'")]
    MetadataFetchFailed { status: u16, url: String },
    /// The metadata URL cannot be reached. The cause is logged only, because it would tell about the network behind the
    /// server.
    #[error("SAML Metadata could not be fetched from URL '{url}'")]
    MetadataUnreachable { url: String },
    /// The new metadata belong to another identity provider.
    #[error(
        "SAML Metadata can be updated only if the EntityID matches for the provider; expected '{expected}' but got '{got}'"
    )]
    EntityIdMismatch { expected: String, got: String },
    #[error("SAML Identity Provider with this EntityID ({0}) already exists")]
    EntityIdExists(String),
    /// A domain of a new provider is assigned to another provider already.
    #[error("SSO Domain '{domain}' is already assigned to an SSO identity provider ({provider})")]
    DomainExists { domain: String, provider: Uuid },
    /// A domain that a provider should get by a change is assigned to another one already.
    #[error("SSO domain '{domain}' already assigned to another provider ({provider})")]
    DomainOfOther { domain: String, provider: Uuid },
    /// Another request has taken a domain or resource id first.
    #[error("Updating SSO provider failed, likely due to a conflict. Try again?")]
    SsoProviderConflict,
    #[error("Custom OAuth provider not found")]
    CustomProviderNotFound,
    /// Compat: 400 `conflict`, where 409 would be usual.
    #[error("A custom OAuth provider with this identifier already exists")]
    CustomProviderExists,
}

impl FederationError {
    /// HTTP status and error code of each variant.
    pub(super) fn status_and_code(&self) -> (u16, &'static str) {
        match self {
            Self::SsoProviderNotFound => (404, "sso_provider_not_found"),
            Self::MetadataFetchFailed { .. } | Self::MetadataUnreachable { .. } => {
                (400, "saml_metadata_fetch_failed")
            }
            Self::EntityIdMismatch { .. } => (400, "saml_entity_id_mismatch"),
            Self::EntityIdExists(_) => (422, "saml_idp_already_exists"),
            Self::DomainExists { .. } | Self::DomainOfOther { .. } => (400, "sso_domain_already_exists"),
            Self::SsoProviderConflict => (422, "conflict"),
            Self::CustomProviderNotFound => (404, "custom_provider_not_found"),
            Self::CustomProviderExists => (400, "conflict"),
        }
    }
}
