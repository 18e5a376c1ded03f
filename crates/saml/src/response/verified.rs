//! From a document to the bytes that were signed. Whatever is read afterwards is read from these bytes, parsed again, so
//! that nothing that an attacker has put around them can be mistaken for them.

use crate::crypto::PublicKey;
use crate::encryption::decrypt_assertion;
use crate::metadata::{IdentityProvider, ServiceProvider};
use crate::names::{ASSERTION, ENCRYPTED_ASSERTION, RESPONSE, SIGNATURE};
use crate::signature::{SignatureError, SignaturePolicy, verify_signature};
use crate::xml::{Document, ElementId, ParseError, parse_document};

/// Why a response signs nobody in. The texts are constant, so that they can be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// The response has no assertion, several, or one at another place than as its child.
    #[error("the response does not have exactly one assertion, as its child")]
    Assertions,
    /// A signature is at a place where it would not be verified.
    #[error("a signature stands somewhere else than in the response or in the assertion")]
    SignaturePlace,
    /// Neither the response nor the assertion is signed.
    #[error("neither the response nor the assertion is signed")]
    Unsigned,
    /// A signature is not valid.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// The signed or decrypted bytes are not a document that the parser accepts.
    #[error(transparent)]
    Document(#[from] ParseError),
    /// The assertion is encrypted although that is not allowed, was encrypted for another key, or is damaged.
    #[error("the assertion cannot be decrypted")]
    Encryption,
    /// The identity provider reports a failure.
    #[error("the status is not success")]
    Status,
    /// The attribute Version is not 2.0.
    #[error("the version is not 2.0")]
    Version,
    /// The issuer is not the identity provider whose keys were used.
    #[error("the issuer is another one")]
    Issuer,
    /// The destination is not this service's address.
    #[error("the destination is another one")]
    Destination,
    /// It answers another request, or names a request although none was made.
    #[error("it does not answer the request that was made")]
    Request,
    /// It was issued too long ago, in the future, or does not say when.
    #[error("the time of issue is too long ago, in the future, or missing")]
    IssueInstant,
    /// There is no valid bearer confirmation for this service provider and time.
    #[error("no subject confirmation by bearer is valid here and now")]
    Confirmation,
    /// The assertion has no conditions, or is used before or after the time that they allow.
    #[error("the conditions are missing or not met at this time")]
    Conditions,
    /// The assertion names another audience than this service.
    #[error("the audience is not this service")]
    Audience,
    /// A part that claims need is missing.
    #[error("the assertion has no subject or no id")]
    Subject,
}

/// A response with one assertion and signatures only where they belong.
pub(super) struct ReceivedResponse<'a> {
    document: &'a Document,
    assertion: ElementId,
    is_encrypted: bool,
    is_response_signed: bool,
}

/// A response that the identity provider vouches for.
pub(super) struct VerifiedResponse {
    /// The response: as it was signed if it was, else as it arrived.
    pub(super) response: Document,
    pub(super) is_response_signed: bool,
    /// The signed assertion. It is the root of its document, or an element of the signed response.
    pub(super) assertion_document: Document,
    pub(super) assertion: ElementId,
}

impl<'a> ReceivedResponse<'a> {
    pub(super) fn check_shape(document: &'a Document) -> Result<Self, ResponseError> {
        let root = document.root();
        let is_assertion =
            |id: &ElementId| document.is(*id, ASSERTION) || document.is(*id, ENCRYPTED_ASSERTION);
        // The whole document is searched, because wrapping attacks hide a second assertion in extensions, signature objects or
        // beside the status.
        let mut assertions = document.ids().filter(is_assertion);
        let assertion = assertions.next().ok_or(ResponseError::Assertions)?;
        let is_child = document.element(assertion).parent == Some(root);
        let is_other_response = |id: ElementId| id != root && document.is(id, RESPONSE);
        if !is_child || assertions.next().is_some() || document.ids().any(is_other_response) {
            return Err(ResponseError::Assertions);
        }
        // The content of an encrypted assertion is checked by the same rules after decryption.
        let is_encrypted = document.is(assertion, ENCRYPTED_ASSERTION);
        let mut is_response_signed = false;
        for signature in document.ids().filter(|id| document.is(*id, SIGNATURE)) {
            match document.element(signature).parent {
                Some(parent) if parent == root => is_response_signed = true,
                Some(parent) if parent == assertion && !is_encrypted => {}
                _ => return Err(ResponseError::SignaturePlace),
            }
        }
        Ok(Self {
            document,
            assertion,
            is_encrypted,
            is_response_signed,
        })
    }

    /// Verifies every signature that there is. The assertion must be signed, or be part of a signed response.
    pub(super) fn verify_signatures(
        &self,
        service: &ServiceProvider,
        provider: &IdentityProvider,
    ) -> Result<VerifiedResponse, ResponseError> {
        let (keys, policy) = (provider.keys.as_slice(), service.options.policy);
        let response = if self.is_response_signed {
            let canonical = verify_signature(self.document, self.document.root(), keys, policy)?;
            Some(parse_document(canonical.as_bytes())?)
        } else {
            None
        };
        let signed_assertion = if self.is_encrypted {
            let plain = self.decrypt(service)?;
            let signed = verify_assertion(&plain, plain.root(), keys, policy)?;
            // If the decrypted assertion is not signed, the signature of the response around the ciphertext covers it.
            signed.or_else(|| self.is_response_signed.then_some(plain))
        } else {
            verify_assertion(self.document, self.assertion, keys, policy)?
        };
        // The signature of the assertion is the most specific one, so its bytes are used instead of those of the response.
        let (assertion_document, assertion) = match (signed_assertion, &response) {
            (Some(document), _) => {
                let root = document.root();
                (document, root)
            }
            (None, Some(response)) => {
                let assertion = response.only_child(response.root(), ASSERTION);
                (response.clone(), assertion.ok_or(ResponseError::Assertions)?)
            }
            (None, None) => return Err(ResponseError::Unsigned),
        };
        Ok(VerifiedResponse {
            response: response.unwrap_or_else(|| self.document.clone()),
            is_response_signed: self.is_response_signed,
            assertion_document,
            assertion,
        })
    }

    fn decrypt(&self, service: &ServiceProvider) -> Result<Document, ResponseError> {
        let plain = decrypt_assertion(self.document, self.assertion, &service.decryption_keys());
        let plain = plain.and_then(|bytes| parse_document(&bytes).ok());
        // Plain text that is not XML gets the same error as a wrong key, because a different one would reveal something
        // about the plain text.
        let plain = plain.ok_or(ResponseError::Encryption)?;
        let root = plain.root();
        let is_stray = |id: ElementId| {
            id != root
                && (plain.is(id, ASSERTION) || plain.is(id, ENCRYPTED_ASSERTION) || plain.is(id, RESPONSE))
        };
        let is_misplaced = |id: ElementId| plain.is(id, SIGNATURE) && plain.element(id).parent != Some(root);
        if !plain.is(root, ASSERTION) || plain.ids().any(|id| is_stray(id) || is_misplaced(id)) {
            return Err(ResponseError::Encryption);
        }
        Ok(plain)
    }
}

/// The signed bytes of an assertion, parsed; `None` for an assertion without a signature.
fn verify_assertion(
    document: &Document,
    assertion: ElementId,
    keys: &[PublicKey],
    policy: SignaturePolicy,
) -> Result<Option<Document>, ResponseError> {
    if document.child(assertion, SIGNATURE).is_none() {
        return Ok(None);
    }
    let canonical = verify_signature(document, assertion, keys, policy)?;
    Ok(Some(parse_document(canonical.as_bytes())?))
}
