//! Tokens inside signed URLs: who holds one may do one thing with one object until it expires.
//!
//! A token never names a role, so it is worthless as a session; a session names no `url`, so it is worthless here.

use selvedge_token::unix_now;
use serde::Serialize;

use crate::error::StorageError;
use crate::identity::{check_time, jwt_text};
use crate::render::Transform;
use crate::route::ObjectPath;
use crate::serve::Storage;

/// Claims of a signed download URL.
#[derive(Serialize)]
struct DownloadClaims<'a> {
    url: &'a str,
    scope: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transformations: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    iat: i64,
    exp: i64,
}

/// Claims of a signed upload URL.
#[derive(Serialize)]
struct UploadClaims<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<&'a str>,
    url: &'a str,
    upsert: bool,
    scope: &'static str,
    iat: i64,
    exp: i64,
}

/// What a download token permits.
pub(crate) struct DownloadGrant {
    /// Unix time at which it ends; a token minted elsewhere may have no end.
    pub(crate) expires_at: Option<i64>,
    /// What shall be done to a picture.
    pub(crate) transform: Transform,
}

/// What an upload token permits.
pub(crate) struct UploadGrant {
    /// Who signed, and therefore owns the object.
    pub(crate) owner: Option<String>,
    /// Whether an existing object may be replaced.
    pub(crate) upsert: bool,
}

/// A token for downloading `target` for `seconds`.
///
/// # Errors
/// `InvalidParameter` when the end lies beyond what a date can express.
pub(crate) fn sign_download(
    storage: &Storage,
    target: &ObjectPath,
    seconds: i64,
) -> Result<String, StorageError> {
    sign_render(storage, target, seconds, &Transform::default())
}

/// The same for a picture made from `target`: the token says what shall be done.
///
/// # Errors
/// As [`sign_download`].
pub(crate) fn sign_render(
    storage: &Storage,
    target: &ObjectPath,
    seconds: i64,
    transform: &Transform,
) -> Result<String, StorageError> {
    let (iat, exp) = lifetime(seconds)?;
    let claims = DownloadClaims {
        url: &target.full(),
        scope: "download",
        transformations: Some(transform.claim()).filter(|text| !text.is_empty()),
        format: transform.format_claim(),
        iat,
        exp,
    };
    storage.keys().sign_hs256(&claims).map_err(StorageError::internal)
}

/// A token for uploading to `target`, for as long as the settings say.
///
/// # Errors
/// `Internal` when signing fails.
pub(crate) fn sign_upload(
    storage: &Storage,
    target: &ObjectPath,
    owner: Option<&str>,
    upsert: bool,
) -> Result<String, StorageError> {
    let seconds = i64::try_from(storage.config().signed_upload_url_lifetime.as_secs()).unwrap_or(i64::MAX);
    let (iat, exp) = lifetime(seconds)?;
    let claims = UploadClaims {
        owner,
        url: &target.full(),
        upsert,
        scope: "upload",
        iat,
        exp,
    };
    storage.keys().sign_hs256(&claims).map_err(StorageError::internal)
}

fn lifetime(seconds: i64) -> Result<(i64, i64), StorageError> {
    /// The last second that JavaScript dates (and so the original's clients) can express.
    const LAST_DATE: i64 = 8_640_000_000_000;
    let now = unix_now();
    let end = now.checked_add(seconds).filter(|end| *end <= LAST_DATE);
    Ok((now, end.ok_or(StorageError::InvalidParameter("expiresIn"))?))
}

/// Checks a token against a download of `target`.
///
/// # Errors
/// `InvalidJwt`, `InvalidSignature`.
pub(crate) fn verify_download(
    storage: &Storage,
    token: &str,
    target: &ObjectPath,
) -> Result<DownloadGrant, StorageError> {
    let claims = verify(storage, token)?;
    let in_scope = match claims.get("scope").and_then(|scope| scope.as_str()) {
        Some(scope) => scope == "download",
        // Tokens of older versions have no scope; only those for uploads say `upsert`.
        None => claims.get("upsert").is_none(),
    };
    if !in_scope {
        return Err(StorageError::InvalidSignature("Token is not scoped for download"));
    }
    check_url(&claims, target)?;
    Ok(DownloadGrant {
        expires_at: claims.get("exp").and_then(|exp| exp.as_i64()),
        transform: Transform::of_claims(
            claims
                .get("transformations")
                .and_then(|text| text.as_str())
                .unwrap_or_default(),
            claims.get("format").and_then(|text| text.as_str()),
        ),
    })
}

/// Checks a token against an upload to `target`.
///
/// # Errors
/// `InvalidJwt`, `InvalidSignature`.
pub(crate) fn verify_upload(
    storage: &Storage,
    token: &str,
    target: &ObjectPath,
) -> Result<UploadGrant, StorageError> {
    let claims = verify(storage, token)?;
    let upsert = claims.get("upsert");
    let in_scope = match claims.get("scope").and_then(|scope| scope.as_str()) {
        Some(scope) => scope == "upload",
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
        upsert: upsert.and_then(|upsert| upsert.as_bool()).unwrap_or(false),
    })
}

fn verify(storage: &Storage, token: &str) -> Result<std::sync::Arc<selvedge_token::Claims>, StorageError> {
    let invalid = |error| StorageError::InvalidJwt(jwt_text(&error));
    let claims = storage.keys().verify(token).map_err(invalid)?;
    check_time(&claims).map_err(invalid)?;
    Ok(claims)
}

fn check_url(claims: &selvedge_token::Claims, target: &ObjectPath) -> Result<(), StorageError> {
    match claims.get("url").and_then(|url| url.as_str()) {
        Some(url) if url == target.full() => Ok(()),
        _ => Err(StorageError::InvalidSignature("Invalid signature")),
    }
}
