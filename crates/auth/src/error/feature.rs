//! Errors of features that the project has switched off.

/// A feature that is off. The statuses are never 5xx, which clients would retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FeatureError {
    #[error("OAuth server is disabled")]
    OauthServerDisabled,
    /// The OAuth server is on, but clients may not register themselves.
    #[error("Dynamic client registration is not enabled")]
    DynamicRegistrationDisabled,
    /// Users may not link or unlink identities themselves.
    #[error("Manual linking is disabled")]
    ManualLinkingDisabled,
    #[error("SAML 2.0 is disabled")]
    SamlDisabled,
    #[error("SCIM server is disabled")]
    ScimDisabled,
    /// No chain is enabled.
    #[error("Web3 provider is disabled")]
    Web3Disabled,
    #[error("Solana Web3 provider is disabled")]
    SolanaDisabled,
    #[error("Ethereum Web3 provider is disabled")]
    EthereumDisabled,
    /// The `chain` of the request is neither `solana` nor `ethereum`.
    #[error("Unsupported chain")]
    UnsupportedChain,
}

impl FeatureError {
    /// HTTP status and error code of each variant.
    pub(super) fn status_and_code(self) -> (u16, &'static str) {
        match self {
            Self::OauthServerDisabled | Self::ScimDisabled => (404, "feature_disabled"),
            Self::DynamicRegistrationDisabled => (403, "oauth_dynamic_client_registration_disabled"),
            Self::ManualLinkingDisabled => (404, "manual_linking_disabled"),
            Self::SamlDisabled => (404, "saml_provider_disabled"),
            Self::Web3Disabled | Self::SolanaDisabled | Self::EthereumDisabled => {
                (422, "web3_provider_disabled")
            }
            Self::UnsupportedChain => (400, "web3_unsupported_chain"),
        }
    }
}
