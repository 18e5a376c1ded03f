//! Responses of identity providers. Each step has its own type, so that none can be omitted: bytes, a document of an
//! accepted shape, the signed bytes, and finally the claims.

mod claims;
mod conditions;
mod verified;

use chrono::{DateTime, Utc};

pub use claims::{AttributeValues, Claims, NameId};
pub use verified::ResponseError;

use self::verified::ReceivedResponse;
use crate::base64_text::decode_base64;
use crate::metadata::{IdentityProvider, ServiceProvider};
use crate::names::{ISSUER, RESPONSE};
use crate::xml::{Document, parse_document};

/// A response as it arrived: well-formed, but not verified.
#[derive(Debug)]
pub struct UnverifiedResponse(Document);

/// Why a posted `SAMLResponse` is not a valid response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// Not Base64.
    #[error("SAMLResponse is not a valid Base64 string")]
    Base64,
    /// The document is not a SAML response.
    #[error("SAMLResponse is not a valid XML SAML assertion")]
    Document,
}

impl UnverifiedResponse {
    /// Reads the form field `SAMLResponse`.
    ///
    /// # Errors
    /// [`MessageError`].
    pub fn from_base64(text: &str) -> Result<Self, MessageError> {
        let bytes = decode_base64(text).ok_or(MessageError::Base64)?;
        Self::from_xml(&bytes)
    }

    /// Reads a response document.
    ///
    /// # Errors
    /// [`MessageError::Document`].
    pub fn from_xml(xml: &[u8]) -> Result<Self, MessageError> {
        let document = parse_document(xml).map_err(|_| MessageError::Document)?;
        if !document.is(document.root(), RESPONSE) {
            return Err(MessageError::Document);
        }
        Ok(Self(document))
    }

    /// The issuer, not verified yet. Use it only to choose whose keys must have signed the response; empty when it is
    /// missing.
    #[must_use]
    pub fn claimed_issuer(&self) -> String {
        let issuer = self.0.only_child(self.0.root(), ISSUER);
        issuer.map(|id| self.0.text(id)).unwrap_or_default()
    }

    /// Verifies signature and conditions, and returns the identity provider's claims about the user.
    ///
    /// `request_id` is the id of the request that was answered; `None` for an unsolicited response, which must not answer
    /// any.
    ///
    /// # Errors
    /// [`ResponseError`], whose texts contain nothing of the response.
    pub fn verify(
        &self,
        service: &ServiceProvider,
        provider: &IdentityProvider,
        request_id: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<Claims, ResponseError> {
        let received = ReceivedResponse::check_shape(&self.0)?;
        let verified = received.verify_signatures(service, provider)?;
        let expected = conditions::Expected {
            service,
            provider,
            request_id,
            now,
        };
        expected.check_response(&verified)?;
        expected.check_assertion(&verified)?;
        claims::read_claims(&verified)
    }
}
