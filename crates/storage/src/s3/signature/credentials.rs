//! Which secrets may belong to an access key, and on whose behalf they act.

use subtle::ConstantTimeEq;

use super::super::error::S3Error;
use crate::error::StorageError;
use crate::identity::Identity;
use crate::serve::Storage;

/// Secrets of which one must have signed.
pub(super) struct Candidates<'s> {
    pub(super) secrets: Vec<&'s str>,
    session_token: Option<String>,
}

/// Finds the secrets of an access key: of the service's own pair, or, with a session token, the project's public keys.
///
/// # Errors
/// `InvalidAccessKeyId`.
pub(super) fn find<'s>(
    storage: &'s Storage,
    access_key: &str,
    session_token: Option<&str>,
) -> Result<Candidates<'s>, S3Error> {
    let config = storage
        .config()
        .s3_protocol
        .as_ref()
        .ok_or(S3Error::InvalidAccessKeyId)?;
    if let Some(token) = session_token.filter(|token| !token.is_empty()) {
        // Neither half is a secret: the token is what says who is calling.
        if !config.project_refs.iter().any(|known| known == access_key) {
            return Err(S3Error::InvalidAccessKeyId);
        }
        return Ok(Candidates {
            secrets: config.anon_keys.iter().map(String::as_str).collect(),
            session_token: Some(token.to_owned()),
        });
    }
    let pair = config
        .service
        .as_ref()
        .filter(|pair| bool::from(pair.access_key_id.as_bytes().ct_eq(access_key.as_bytes())));
    let pair = pair.ok_or(S3Error::InvalidAccessKeyId)?;
    Ok(Candidates {
        secrets: vec![&pair.secret_access_key],
        session_token: None,
    })
}

impl Candidates<'_> {
    /// Who acts, once a signature is right.
    ///
    /// # Errors
    /// `AccessDenied` with the session token's fault.
    pub(super) fn identity(&self, storage: &Storage) -> Result<Identity, StorageError> {
        match &self.session_token {
            None => Ok(Identity::service()),
            Some(token) => Identity::of_token(storage.keys(), token),
        }
    }
}
