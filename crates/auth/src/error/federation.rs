//! Errors about identity providers that administrators configure: SAML providers and custom OAuth or OpenID Connect
//! providers.

/// Why an administrator's request about a provider fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FederationError {
    #[error("SSO Identity Provider not found")]
    SsoProviderNotFound,
    /// The metadata URL cannot be reached or does not respond 200.
    #[error("SAML Metadata could not be fetched from the URL")]
    MetadataFetchFailed,
    /// The new metadata belong to another identity provider.
    #[error("SAML Metadata can be updated only if the EntityID matches for the provider")]
    EntityIdMismatch,
    #[error("SAML Identity Provider with this EntityID already exists")]
    EntityIdExists,
    #[error("SSO Domain is already assigned to an SSO identity provider")]
    DomainExists,
    #[error("Custom OAuth provider not found")]
    CustomProviderNotFound,
    /// Compat: 400 `conflict`, where 409 would be usual.
    #[error("A custom OAuth provider with this identifier already exists")]
    CustomProviderExists,
}

impl FederationError {
    /// HTTP status and error code of each variant.
    pub(super) fn status_and_code(self) -> (u16, &'static str) {
        match self {
            Self::SsoProviderNotFound => (404, "sso_provider_not_found"),
            Self::MetadataFetchFailed => (400, "saml_metadata_fetch_failed"),
            Self::EntityIdMismatch => (400, "saml_entity_id_mismatch"),
            Self::EntityIdExists => (422, "saml_idp_already_exists"),
            Self::DomainExists => (400, "sso_domain_already_exists"),
            Self::CustomProviderNotFound => (404, "custom_provider_not_found"),
            Self::CustomProviderExists => (400, "conflict"),
        }
    }
}
