//! Responses of identity providers. Each step has a type of its own, so that none can be left out: bytes, a document of
//! an accepted shape, the bytes that were signed, and at last the claims.

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

/// Why a posted `SAMLResponse` is no response at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// Not Base64.
    #[error("SAMLResponse is not a valid Base64 string")]
    Base64,
    /// Not a SAML response.
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

    /// Who claims to have written the response. Good only for choosing whose keys must have signed it; empty when the
    /// response does not say.
    #[must_use]
    pub fn claimed_issuer(&self) -> String {
        let issuer = self.0.only_child(self.0.root(), ISSUER);
        issuer.map(|id| self.0.text(id)).unwrap_or_default()
    }

    /// Verifies signature and conditions, and returns what the identity provider says about the user.
    ///
    /// `request_id` is the request that the response must answer; `None` when the user came from the identity provider
    /// unasked, and then it must not answer any.
    ///
    /// # Errors
    /// [`ResponseError`], whose texts hold nothing of the response.
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
