//! Tokens inside signed URLs: each lets its holder download or upload one object until it expires.
//!
//! A URL token has no `role`, so it is useless as a session token; a session token has no `url`, so it is useless here.

use selvedge_token::unix_now;
use serde::Serialize;

use crate::error::StorageError;
use crate::identity::{Identity, check_time, describe_token_error};
use crate::render::Transform;
use crate::request::object_path::ObjectPath;
use crate::state::Storage;

/// Claims of a signed download URL.
#[derive(Serialize)]
struct DownloadClaims<'a> {
    url: &'a str,
    scope: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transformations: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    /// The only version that the token opens. Compat: the name of the claim is ours.
    #[serde(rename = "versionId", skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    iat: i64,
    exp: i64,
}

/// Claims of a signed upload URL.
#[derive(Serialize)]
struct UploadClaims<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<&'a str>,
    /// The claim of the session token. Not in the original's tokens.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_anonymous: bool,
    url: &'a str,
    upsert: bool,
    scope: &'static str,
    iat: i64,
    exp: i64,
}

/// The permission in a download token.
pub(crate) struct DownloadGrant {
    /// Unix time at which it expires; tokens signed by other software may not expire.
    pub(crate) expires_at: Option<i64>,
    /// How an image is transformed; empty for a plain download.
    pub(crate) transform: Transform,
    /// The version that it is bound to.
    pub(crate) version: Option<String>,
}

/// The permission in an upload token.
pub(crate) struct UploadGrant {
    /// The subject who signed the URL; becomes the owner of the object.
    pub(crate) owner: Option<String>,
    /// Whether the signer was a user who had signed in anonymously.
    pub(crate) is_anonymous: bool,
    /// Whether an existing object may be replaced.
    pub(crate) upsert: bool,
}

/// Signs a token for downloading `target` for `seconds`, or only one version of it.
///
/// # Errors `InvalidParameter` when the expiry is after the last date that JavaScript can represent.
pub(crate) fn sign_download_token(
    storage: &Storage,
    target: &ObjectPath,
    seconds: i64,
    version: Option<&str>,
) -> Result<String, StorageError> {
    sign_render_token(storage, target, seconds, &Transform::default(), version)
}

/// A token for downloading an image rendered from `target`; it contains the transformation.
///
/// # Errors
/// As [`sign_download_token`].
pub(crate) fn sign_render_token(
    storage: &Storage,
    target: &ObjectPath,
    seconds: i64,
    transform: &Transform,
    version: Option<&str>,
) -> Result<String, StorageError> {
    let (iat, exp) = validate_lifetime(seconds)?;
    let claims = DownloadClaims {
        url: &target.full_key(),
        scope: "download",
        transformations: Some(transform.claim()).filter(|text| !text.is_empty()),
        format: transform.format_claim(),
        version,
        iat,
        exp,
    };
    storage.keys().sign_hs256(&claims).map_err(StorageError::internal)
}

/// A token for uploading to `target` as the signer, valid for `signed_upload_url_lifetime`.
///
/// # Errors
/// `Internal` when signing fails.
pub(crate) fn sign_upload_token(
    storage: &Storage,
    target: &ObjectPath,
    signer: &Identity,
    upsert: bool,
) -> Result<String, StorageError> {
    let seconds = i64::try_from(storage.config().signed_upload_url_lifetime.as_secs()).unwrap_or(i64::MAX);
    let (iat, exp) = validate_lifetime(seconds)?;
    let claims = UploadClaims {
        owner: signer.subject(),
        is_anonymous: signer.is_anonymous_user(),
        url: &target.full_key(),
        upsert,
        scope: "upload",
        iat,
        exp,
    };
    storage.keys().sign_hs256(&claims).map_err(StorageError::internal)
}

/// `iat` and `exp` of a token that is valid for `seconds`.
fn validate_lifetime(seconds: i64) -> Result<(i64, i64), StorageError> {
    /// Unix time of the last second that a JavaScript `Date` can represent (8.64e15 ms after 1970). Clients in
    /// JavaScript cannot parse a later expiry.
    const LAST_DATE: i64 = 8_640_000_000_000;
    let now = unix_now();
    let end = now.checked_add(seconds).filter(|end| *end <= LAST_DATE);
    Ok((now, end.ok_or(StorageError::InvalidParameter("expiresIn"))?))
}

/// Verifies a token for a download of `target`.
///
/// # Errors
/// `InvalidJwt`, `InvalidSignature`.
pub(crate) fn verify_download_token(
    storage: &Storage,
    token: &str,
    target: &ObjectPath,
) -> Result<DownloadGrant, StorageError> {
    let claims = verify_token(storage, token)?;
    let in_scope = match claims.get("scope").and_then(|scope| scope.as_str()) {
        Some(scope) => scope == "download",
        // Tokens of older versions of the original have no scope; only upload tokens have `upsert`.
        None => claims.get("upsert").is_none(),
    };
    if !in_scope {
        return Err(StorageError::InvalidSignature("Token is not scoped for download"));
    }
    check_url(&claims, target)?;
    Ok(DownloadGrant {
        expires_at: claims.get("exp").and_then(|exp| exp.as_i64()),
        transform: Transform::from_claims(
            claims
                .get("transformations")
                .and_then(|text| text.as_str())
                .unwrap_or_default(),
            claims.get("format").and_then(|text| text.as_str()),
        ),
        version: claims
            .get("versionId")
            .and_then(|text| text.as_str())
            .map(str::to_owned),
    })
}

/// Verifies a token for an upload to `target`.
///
/// # Errors
/// `InvalidJwt`, `InvalidSignature`.
pub(crate) fn verify_upload_token(
    storage: &Storage,
    token: &str,
    target: &ObjectPath,
) -> Result<UploadGrant, StorageError> {
    let claims = verify_token(storage, token)?;
    let upsert = claims.get("upsert");
    let in_scope = match claims.get("scope").and_then(|scope| scope.as_str()) {
        Some(scope) => scope == "upload",
        // The reverse of the rule for downloads: without a scope, `upsert` marks a token as one for uploads.
        None => upsert.is_some(),
    };
    if !in_scope {
        return Err(StorageError::InvalidSignature("Token is not scoped for upload"));
    }
    check_url(&claims, target)?;
    Ok(UploadGrant {
        owner: claims
            .get("owner")
            .and_then(|owner| owner.as_str())
            .map(str::to_owned),
        is_anonymous: claims
            .get("is_anonymous")
            .and_then(|is_anonymous| is_anonymous.as_bool())
            .unwrap_or(false),
        upsert: upsert.and_then(|upsert| upsert.as_bool()).unwrap_or(false),
    })
}

fn verify_token(
    storage: &Storage,
    token: &str,
) -> Result<std::sync::Arc<selvedge_token::Claims>, StorageError> {
    let invalid = |error| StorageError::InvalidJwt(describe_token_error(&error));
    let claims = storage.keys().verify(token).map_err(invalid)?;
    check_time(&claims).map_err(invalid)?;
    Ok(claims)
}

fn check_url(claims: &selvedge_token::Claims, target: &ObjectPath) -> Result<(), StorageError> {
    match claims.get("url").and_then(|url| url.as_str()) {
        // The token is bound to one object: without this check a URL for one key would open every other key as well.
        Some(url) if url == target.full_key() => Ok(()),
        _ => Err(StorageError::InvalidSignature("Invalid signature")),
    }
}
