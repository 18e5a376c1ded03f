//! The secrets that may belong to an access key, and the identity that a valid signature gives.

use subtle::ConstantTimeEq;

use crate::error::StorageError;
use crate::identity::Identity;
use crate::s3::error::S3Error;
use crate::state::Storage;

/// The secrets of an access key, one of which must have made the signature.
pub(super) struct Credentials<'s> {
    pub(super) secrets: Vec<&'s str>,
    session_token: Option<String>,
}

/// Finds the secrets of an access key: that of the service's own pair, or with a session token the project's public
/// keys.
///
/// # Errors
/// `InvalidAccessKeyId`.
pub(super) fn find_credentials<'s>(
    storage: &'s Storage,
    access_key: &str,
    session_token: Option<&str>,
) -> Result<Credentials<'s>, S3Error> {
    let config = storage
        .config()
        .s3_protocol
        .as_ref()
        .ok_or(S3Error::InvalidAccessKeyId)?;
    if let Some(token) = session_token.filter(|token| !token.is_empty()) {
        // With a session token neither the access key nor its "secret" is secret: the token alone identifies the
        // caller.
        if !config.project_refs.iter().any(|known| known == access_key) {
            return Err(S3Error::InvalidAccessKeyId);
        }
        return Ok(Credentials {
            secrets: config.anon_keys.iter().map(String::as_str).collect(),
            session_token: Some(token.to_owned()),
        });
    }
    let pair = config
        .service
        .as_ref()
        .filter(|pair| bool::from(pair.access_key_id.as_bytes().ct_eq(access_key.as_bytes())));
    let pair = pair.ok_or(S3Error::InvalidAccessKeyId)?;
    Ok(Credentials {
        secrets: vec![&pair.secret_access_key],
        session_token: None,
    })
}

impl Credentials<'_> {
    /// The identity, once the signature is verified.
    ///
    /// # Errors
    /// `AccessDenied` with the reason why the session token is invalid.
    pub(super) fn identity(&self, storage: &Storage) -> Result<Identity, StorageError> {
        match &self.session_token {
            None => Ok(Identity::service()),
            Some(token) => Identity::of_token(storage.keys(), token),
        }
    }
}
