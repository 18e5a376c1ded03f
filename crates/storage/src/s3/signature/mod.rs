//! Signature V4: who signed a request, and what the signature says about its body.
//!
//! The signature comes in the Authorization header or in the query of a presigned URL; forms carry theirs in fields
//! ([`policy`]). What proxies may have changed on the way (host, path prefix) is tried in each spelling that the client
//! may have signed.

mod canonical;
mod credentials;
mod key;
pub(crate) mod policy;

use actix_web::HttpRequest;
use actix_web::http::header;
use chrono::{DateTime, NaiveDateTime, Utc};
use subtle::ConstantTimeEq;

pub(crate) use self::key::{Scope, SigningKey};
use super::error::S3Error;
use crate::identity::Identity;
use crate::serve::Storage;

/// How far a request's date may be from ours.
const MAX_SKEW_S: i64 = 15 * 60;
/// The longest life of a presigned URL.
const MAX_EXPIRES_S: i64 = 7 * 24 * 3600;
/// The only algorithm.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// Hash of no bytes.
pub(crate) const EMPTY_SHA256: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// `x-amz-` headers that proxies and browsers add and that change nothing of what is done.
const HARMLESS: [&str; 6] = [
    "x-amz-content-sha256",
    "x-amz-date",
    "x-amz-user-agent",
    "x-amz-cf-id",
    "x-amz-security-token",
    "x-amz-checksum-mode",
];

/// A request whose signature is right.
pub(crate) struct Verified {
    /// On whose behalf it acts.
    pub(crate) identity: Identity,
    /// What was signed about the body.
    pub(crate) payload: Payload,
}

/// What a signature says about the body.
pub(crate) enum Payload {
    /// Nothing.
    Unsigned,
    /// Its SHA-256 in hex.
    Sha256(String),
    /// It comes in aws-chunks.
    Chunked {
        /// Signs each chunk; unsigned chunks have none.
        chain: Option<Chain>,
        /// Whether checksums follow the last chunk.
        trailer: bool,
    },
}

/// What the signature of the next chunk is made of.
pub(crate) struct Chain {
    pub(crate) key: SigningKey,
    pub(crate) timestamp: String,
    pub(crate) scope: String,
    pub(crate) previous: String,
}

/// A signature as it was presented.
struct Presented {
    scope: Scope,
    timestamp: String,
    signed_headers: Vec<String>,
    signature: String,
    session_token: Option<String>,
    /// Seconds a presigned URL lives.
    expires_s: Option<i64>,
}

/// Verifies a request.
///
/// # Errors
/// `MissingSignature` when there is none; `SignatureDoesNotMatch` and its kin.
pub(crate) fn verify(storage: &Storage, request: &HttpRequest) -> Result<Verified, S3Error> {
    let query = canonical::parse_query(request.query_string());
    let header = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    // A header of another scheme must not hide the signature of a presigned URL.
    let presented = match header.filter(|header| header.trim_start().starts_with(ALGORITHM)) {
        Some(header) => from_header(request, header)?,
        None => from_query(&query)?.ok_or(S3Error::MissingSignature)?,
    };
    check_time(&presented)?;
    check_signed(request, &presented)?;
    let candidates = credentials::find(
        storage,
        &presented.scope.access_key,
        presented.session_token.as_deref(),
    )?;

    let hashes = payload_hashes(request, &query, presented.expires_s.is_some());
    for secret in &candidates.secrets {
        let key = SigningKey::derive(secret, &presented.scope);
        for hash in &hashes {
            for text in canonical::requests(request, &query, &presented.signed_headers, hash) {
                let signature = key.sign_request(&presented.timestamp, &presented.scope.text(), &text);
                if bool::from(signature.as_bytes().ct_eq(presented.signature.as_bytes())) {
                    return Ok(Verified {
                        identity: candidates.identity(storage)?,
                        payload: payload(hash, key, presented)?,
                    });
                }
            }
        }
    }
    Err(S3Error::SignatureDoesNotMatch)
}

fn payload(hash: &str, key: SigningKey, presented: Presented) -> Result<Payload, S3Error> {
    let chain = || Chain {
        key,
        scope: presented.scope.text(),
        timestamp: presented.timestamp,
        previous: presented.signature,
    };
    Ok(match hash {
        "UNSIGNED-PAYLOAD" => Payload::Unsigned,
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" => Payload::Chunked {
            chain: Some(chain()),
            trailer: false,
        },
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER" => Payload::Chunked {
            chain: Some(chain()),
            trailer: true,
        },
        "STREAMING-UNSIGNED-PAYLOAD-TRAILER" => Payload::Chunked {
            chain: None,
            trailer: true,
        },
        hash if hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            Payload::Sha256(hash.to_ascii_lowercase())
        }
        _ => {
            return Err(S3Error::InvalidRequest(
                "x-amz-content-sha256 has an unsupported value",
            ));
        }
    })
}

/// What the client may have signed as the hash of the body.
fn payload_hashes(request: &HttpRequest, query: &[canonical::Pair], presigned: bool) -> Vec<String> {
    let unsigned = || "UNSIGNED-PAYLOAD".to_owned();
    let in_header = request
        .headers()
        .get("x-amz-content-sha256")
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    if !presigned {
        // Generic signers of requests without a body send no such header and sign the hash of nothing.
        return in_header.map_or_else(|| vec![unsigned(), EMPTY_SHA256.to_owned()], |hash| vec![hash]);
    }
    let in_query = canonical::value(query, "X-Amz-Content-Sha256");
    let mut hashes: Vec<String> = in_query
        .into_iter()
        .chain([unsigned()])
        .chain(in_header)
        .collect();
    hashes.dedup();
    hashes
}

/// `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`
fn from_header(request: &HttpRequest, header: &str) -> Result<Presented, S3Error> {
    let malformed = || S3Error::MalformedSignature("Invalid signature format");
    let fields = header
        .trim_start()
        .strip_prefix(ALGORITHM)
        .filter(|rest| rest.starts_with(' '))
        .ok_or_else(malformed)?;
    let field = |name: &str| {
        fields.split(',').find_map(|field| {
            let (found, value) = field.trim().split_once('=')?;
            (found == name).then(|| value.trim().to_owned())
        })
    };
    let text = |name: &str| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned)
    };
    let timestamp = match text("x-amz-date") {
        Some(timestamp) => timestamp,
        None => text("date")
            .and_then(|date| DateTime::parse_from_rfc2822(&date).ok())
            .map(|date| date.to_utc().format("%Y%m%dT%H%M%SZ").to_string())
            .ok_or(S3Error::MalformedSignature("Missing x-amz-date header"))?,
    };
    Ok(Presented {
        scope: Scope::parse(&field("Credential").ok_or_else(malformed)?)?,
        timestamp,
        signed_headers: signed_headers(&field("SignedHeaders").ok_or_else(malformed)?),
        signature: field("Signature").ok_or_else(malformed)?,
        session_token: text("x-amz-security-token"),
        expires_s: None,
    })
}

/// `X-Amz-…` of a presigned URL; none when it is not one.
fn from_query(query: &[canonical::Pair]) -> Result<Option<Presented>, S3Error> {
    let Some(signature) = canonical::value(query, "X-Amz-Signature") else {
        return Ok(None);
    };
    let required = |name: &str| {
        canonical::value(query, name).ok_or(S3Error::MalformedSignature(
            "The presigned URL lacks one of X-Amz-Credential, X-Amz-SignedHeaders, X-Amz-Date and X-Amz-Expires",
        ))
    };
    if canonical::value(query, "X-Amz-Algorithm").is_some_and(|algorithm| algorithm != ALGORITHM) {
        return Err(S3Error::MalformedSignature("Invalid X-Amz-Algorithm"));
    }
    let expires_s = required("X-Amz-Expires")?.parse().ok();
    let expires_s = expires_s.filter(|seconds| (1..=MAX_EXPIRES_S).contains(seconds));
    Ok(Some(Presented {
        scope: Scope::parse(&required("X-Amz-Credential")?)?,
        timestamp: required("X-Amz-Date")?,
        signed_headers: signed_headers(&required("X-Amz-SignedHeaders")?),
        signature,
        session_token: canonical::value(query, "X-Amz-Security-Token"),
        expires_s: Some(expires_s.ok_or(S3Error::MalformedSignature("Invalid X-Amz-Expires"))?),
    }))
}

fn signed_headers(list: &str) -> Vec<String> {
    list.split(';').map(str::to_ascii_lowercase).collect()
}

fn check_time(presented: &Presented) -> Result<(), S3Error> {
    let signed_at = NaiveDateTime::parse_from_str(&presented.timestamp, "%Y%m%dT%H%M%SZ")
        .map_err(|_| S3Error::MalformedSignature("Invalid date"))?
        .and_utc();
    if !presented.timestamp.starts_with(&presented.scope.date) {
        return Err(S3Error::MalformedSignature(
            "The credential's date is not the request's",
        ));
    }
    let age_s = Utc::now().signed_duration_since(signed_at).num_seconds();
    match presented.expires_s {
        Some(expires_s) if age_s > expires_s => Err(S3Error::ExpiredToken),
        Some(_) if age_s < -MAX_SKEW_S => Err(S3Error::AccessDenied("Request is not yet valid".to_owned())),
        None if age_s.abs() > MAX_SKEW_S => Err(S3Error::RequestTimeTooSkewed),
        _ => Ok(()),
    }
}

/// Whoever holds a presigned URL must not make another request of it by adding headers.
fn check_signed(request: &HttpRequest, presented: &Presented) -> Result<(), S3Error> {
    let foreign = request.headers().keys().any(|name| {
        let name = name.as_str();
        name.starts_with("x-amz-")
            && !HARMLESS.contains(&name)
            && !presented.signed_headers.iter().any(|signed| signed == name)
    });
    if foreign {
        return Err(S3Error::AccessDenied(
            "There were headers present in the request which were not signed".to_owned(),
        ));
    }
    Ok(())
}
