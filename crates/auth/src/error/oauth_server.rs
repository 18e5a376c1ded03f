//! Errors about clients, authorizations and consents of the OAuth server that are not OAuth error bodies.

/// A client, authorization or consent that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OauthServerError {
    /// In the path of an administrator's request.
    #[error("OAuth client not found")]
    ClientNotFound,
    /// `client_id` of `/oauth/authorize` is not a UUID.
    #[error("invalid client_id format")]
    MalformedClientId,
    /// `client_id` of `/oauth/authorize` names no client.
    #[error("invalid client_id")]
    UnknownClientId,
    /// Unknown, expired, or of another user: the three are not told apart, so that ids cannot be probed.
    #[error("authorization not found")]
    AuthorizationNotFound,
    /// The user has not granted anything to the client.
    #[error("No active grant found for this client")]
    ConsentNotFound,
}

impl OauthServerError {
    /// HTTP status and error code of each variant.
    pub(super) fn status_and_code(self) -> (u16, &'static str) {
        match self {
            Self::ClientNotFound => (404, "oauth_client_not_found"),
            Self::MalformedClientId | Self::UnknownClientId => (400, "oauth_client_not_found"),
            Self::AuthorizationNotFound => (404, "oauth_authorization_not_found"),
            Self::ConsentNotFound => (404, "oauth_consent_not_found"),
        }
    }
}
