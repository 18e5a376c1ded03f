//! Why an external provider could not be used, or why its response was not accepted.

use crate::http_client::CallError;

/// A provider that cannot be called, or a response that is not accepted. The text goes to the log, never to a client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    /// The provider cannot be reached, reports an error, or its response is not JSON.
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("the issuer's discovery document cannot be used: {0}")]
    Discovery(&'static str),
    /// A URL is missing or must not be called, or the request token of OAuth 1.0a is missing; the text names it.
    #[error("the issuer's discovery document lacks a usable {0}")]
    MissingEndpoint(&'static str),
    /// The provider refused the code, or returned no access token.
    #[error("{host} returned no tokens for the code (status {status})")]
    Exchange { host: String, status: u16 },
    /// A claim of the ID token is missing or has an unacceptable value.
    #[error("the ID token is not acceptable: {0}")]
    IdToken(&'static str),
    /// None of the token's audiences is one of our client ids.
    #[error("the audience of the ID token is another client: {0:?}")]
    Audience(Vec<String>),
    /// The ID token cannot be parsed, or none of the issuer's keys has signed it.
    #[error("the ID token is not acceptable: {0}")]
    Signature(#[from] selvedge_token::TokenError),
    /// Another request has just tried in vain to fetch the issuer's keys.
    #[error("the issuer's keys could not be fetched")]
    NoKeys,
    #[error("the provider's response has no user id")]
    NoSubject,
}
