//! Verifies the signature of a request in its header or query.

use actix_web::dev::RequestHead;
use actix_web::http::header;
use chrono::{NaiveDateTime, Utc};
use subtle::ConstantTimeEq;

use super::canonical::{self, PublicAddress};
use super::credentials::find_credentials;
use super::key::{ALGORITHM, SigningKey};
use super::payload::{EMPTY_SHA256, SignedPayload};
use super::presented::{PresentedSignature, read_header, read_query};
use crate::identity::Identity;
use crate::s3::error::S3Error;
use crate::state::Storage;

/// How far the date of a request may be from ours, in seconds.
const MAX_SKEW_S: i64 = 15 * 60;
/// `x-amz-` headers that need not be signed: proxies and browsers add them, and none changes what the request does.
const UNSIGNED_HEADERS: [&str; 6] = [
    "x-amz-content-sha256",
    "x-amz-date",
    "x-amz-user-agent",
    "x-amz-cf-id",
    "x-amz-security-token",
    "x-amz-checksum-mode",
];

/// A request whose signature is valid.
pub(crate) struct Verified {
    /// The identity with which the request is executed.
    pub(crate) identity: Identity,
    /// What the signature covers of the body.
    pub(crate) payload: SignedPayload,
}

/// Verifies the signature of a request.
///
/// # Errors
/// `MissingSignature`, `MalformedSignature`, `SignatureDoesNotMatch`, `InvalidAccessKeyId`, `ExpiredToken`,
/// `RequestTimeTooSkewed`, `AccessDenied`.
pub(crate) fn verify_request(storage: &Storage, request: &RequestHead) -> Result<Verified, S3Error> {
    let query = canonical::parse_query(request.uri.query().unwrap_or_default());
    let presented = read_signature(request, &query)?;
    check_time(&presented)?;
    check_signed_headers(request, &presented)?;
    let credentials = find_credentials(
        storage,
        &presented.scope.access_key,
        presented.session_token.as_deref(),
    )?;
    let public = PublicAddress::of_url(storage.config().public_url.as_deref());
    let (key, hash) = find_signing_key(request, &query, &presented, &credentials.secrets, &public)
        .ok_or(S3Error::SignatureDoesNotMatch)?;
    Ok(Verified {
        identity: credentials.identity(storage)?,
        payload: SignedPayload::read(&hash, key, presented)?,
    })
}

/// Reads the signature that a request presents in its Authorization header or in its query.
///
/// # Errors
/// `MissingSignature`, `MalformedSignature`.
pub(super) fn read_signature(
    request: &RequestHead,
    query: &[canonical::Pair],
) -> Result<PresentedSignature, S3Error> {
    let header = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    // Browsers may add an Authorization header of another scheme to a presigned URL.
    match header.filter(|header| header.trim_start().starts_with(ALGORITHM)) {
        Some(header) => read_header(request, header),
        None => read_query(query)?.ok_or(S3Error::MissingSignature),
    }
}

/// The key that made a signature, and the hash of the body that was signed; `None` if none of the secrets made it.
pub(super) fn find_signing_key(
    request: &RequestHead,
    query: &[canonical::Pair],
    presented: &PresentedSignature,
    secrets: &[&str],
    public: &PublicAddress,
) -> Option<(SigningKey, String)> {
    let hashes = possible_payload_hashes(request, query, presented.expires_s.is_some());
    // Each combination of secret, payload hash and canonical request is tried; the comparison takes constant time, so
    // that its duration does not reveal how much of a signature is right.
    for secret in secrets {
        let key = SigningKey::derive(secret, &presented.scope);
        for hash in &hashes {
            let signed = &presented.signed_headers;
            for text in canonical::build_canonical_requests(request, query, signed, hash, public) {
                let signature = key.sign_request(&presented.timestamp, &presented.scope.text(), &text);
                if bool::from(signature.as_bytes().ct_eq(presented.signature.as_bytes())) {
                    return Some((key, hash.clone()));
                }
            }
        }
    }
    None
}

/// The values that the client may have signed as the hash of the body.
pub(super) fn possible_payload_hashes(
    request: &RequestHead,
    query: &[canonical::Pair],
    presigned: bool,
) -> Vec<String> {
    let unsigned = || "UNSIGNED-PAYLOAD".to_owned();
    let in_header = request
        .headers()
        .get("x-amz-content-sha256")
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    if !presigned {
        // Generic SigV4 clients do not send this header; without a body they sign the hash of no bytes.
        return in_header.map_or_else(|| vec![unsigned(), EMPTY_SHA256.to_owned()], |hash| vec![hash]);
    }
    let in_query = canonical::find_value(query, "X-Amz-Content-Sha256");
    let mut hashes: Vec<String> = in_query
        .into_iter()
        .chain([unsigned()])
        .chain(in_header)
        .collect();
    hashes.dedup();
    hashes
}

/// Refuses signatures that are too old or from the future.
fn check_time(presented: &PresentedSignature) -> Result<(), S3Error> {
    let signed_at = NaiveDateTime::parse_from_str(&presented.timestamp, "%Y%m%dT%H%M%SZ")
        .map_err(|_| S3Error::MalformedSignature("Invalid date"))?
        .and_utc();
    // The signing key is derived from the scope's date. A date of another day would keep a key usable beyond its day.
    if !presented.timestamp.starts_with(&presented.scope.date) {
        return Err(S3Error::MalformedSignature(
            "The credential's date is not the request's",
        ));
    }
    let age_s = Utc::now().signed_duration_since(signed_at).num_seconds();
    match presented.expires_s {
        Some(expires_s) if age_s > expires_s => Err(S3Error::ExpiredToken),
        // A presigned URL may be signed by a host whose clock runs ahead, within the same tolerance.
        Some(_) if age_s < -MAX_SKEW_S => Err(S3Error::AccessDenied("Request is not yet valid".to_owned())),
        None if age_s.abs() > MAX_SKEW_S => Err(S3Error::RequestTimeTooSkewed),
        _ => Ok(()),
    }
}

/// Refuses a signature that does not cover the host, because it would be valid for every server with the secret, and
/// unsigned `x-amz-` headers: otherwise the holder of a presigned URL could change its effect by adding some.
fn check_signed_headers(request: &RequestHead, presented: &PresentedSignature) -> Result<(), S3Error> {
    let is_signed = |name: &str| presented.signed_headers.iter().any(|signed| signed == name);
    let foreign = request.headers().keys().any(|name| {
        let name = name.as_str();
        name.starts_with("x-amz-") && !UNSIGNED_HEADERS.contains(&name) && !is_signed(name)
    });
    if foreign || !is_signed("host") {
        return Err(S3Error::AccessDenied(
            "There were headers present in the request which were not signed".to_owned(),
        ));
    }
    Ok(())
}
