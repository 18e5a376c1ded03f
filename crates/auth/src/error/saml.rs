//! Errors of a sign-in by SAML. Source: SAML contract §8.

use uuid::Uuid;

/// Why a sign-in by SAML fails. Nothing of what the identity provider has sent is part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SamlError {
    #[error("No such SSO provider")]
    ProviderNotFound,
    #[error("No SSO provider assigned for this domain")]
    NoProviderOfDomain,
    #[error("SSO Provider is currently disabled")]
    ProviderDisabled,
    #[error("SSO Provider assigned for this domain is currently disabled")]
    ProviderOfDomainDisabled,
    /// The provider's metadata name no place where browsers can be redirected to.
    #[error(
        "SAML Metadata of the SSO provider does not contain a SingleSignOnService with the HTTP-Redirect binding"
    )]
    NoRedirectLocation,
    #[error("SAML RelayState does not exist, try logging in again?")]
    RelayStateNotFound,
    #[error("SAML RelayState has expired. Try logging in again?")]
    RelayStateExpired,
    #[error("A SAML connection has not been established with this Identity Provider")]
    UnknownIdentityProvider,
    /// The response does not count, for a reason that is logged.
    #[error("SAML Assertion is not valid")]
    InvalidAssertion,
    #[error(
        "SAML Assertion did not contain a persistent Subject Identifier attribute or Subject NameID uniquely identifying this user"
    )]
    NoUserId,
    #[error("SAML Assertion does not contain an email address")]
    NoEmail,
    /// Several users of the provider have the address; taking one by chance could let a person into another's account.
    #[error("Multiple accounts with the same email address in the same linking domain detected: sso:{0}")]
    SeveralAccounts(Uuid),
    /// A mapped claim has another type than the claim of that name.
    #[error("Mapped claims from provider could not be deserialized from JSON")]
    MappedClaims,
}

impl SamlError {
    /// HTTP status and error code of each variant.
    pub(super) fn status_and_code(self) -> (u16, &'static str) {
        match self {
            Self::ProviderNotFound | Self::NoProviderOfDomain => (404, "sso_provider_not_found"),
            Self::ProviderDisabled | Self::ProviderOfDomainDisabled => (404, "sso_provider_disabled"),
            Self::NoRedirectLocation | Self::InvalidAssertion => (400, "validation_failed"),
            Self::RelayStateNotFound => (404, "saml_relay_state_not_found"),
            Self::RelayStateExpired => (422, "saml_relay_state_expired"),
            Self::UnknownIdentityProvider => (404, "saml_idp_not_found"),
            Self::NoUserId => (400, "saml_assertion_no_user_id"),
            Self::NoEmail => (400, "saml_assertion_no_email"),
            // Compat: a 500, although the administrator's mapping is at fault.
            Self::MappedClaims | Self::SeveralAccounts(_) => (500, "unexpected_failure"),
        }
    }
}
