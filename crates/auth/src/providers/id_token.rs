//! Verifies ID tokens of other issuers and reads their standard claims.
//!
//! Signatures are checked with the issuer's keys ([`super::discovery`]); issuer, audience, times and `at_hash` are
//! checked here. Source: Auth contract §8.4, OpenID Connect Core §3.1.3.7.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use selvedge_token::{Claims, unix_now};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::definition::IdTokenRules;
use super::discovery::Issuers;
use super::json_fields::Fields;
use super::profile::{PROFILE_CLAIMS, Profile};
use crate::crypto::equal_secrets;
use crate::error::ProviderError;
use crate::http_client::HttpClient;

/// Seconds by which `nbf` and `iat` may lie in the future, because the issuer's clock may differ from ours. `exp` has
/// no tolerance.
const CLOCK_LEEWAY_S: i64 = 300;

/// The conditions under which a token is accepted.
#[derive(Debug)]
pub(crate) struct ExpectedIdToken<'a> {
    pub(crate) rules: &'a IdTokenRules,
    /// Our client ids; one of them must be in `aud`.
    pub(crate) audiences: &'a [String],
    /// The access token that came with the ID token; compared with `at_hash` if the ID token has one.
    pub(crate) access_token: Option<&'a str>,
}

/// A verified ID token.
#[derive(Debug)]
pub(crate) struct IdToken {
    pub(crate) profile: Profile,
    /// The `nonce` claim, which the caller compares; empty when the token has none.
    pub(crate) nonce: String,
    /// All claims, also those that the profile does not use.
    pub(crate) claims: Map<String, Value>,
}

/// Verifies signature, issuer, audience, times and `at_hash`; the caller checks the nonce.
///
/// # Errors
/// [`ProviderError::Audience`] for a token that was issued to another client; other variants for everything else.
pub(crate) async fn verify_id_token(
    http: &HttpClient,
    issuers: &Issuers,
    token: &str,
    expected: &ExpectedIdToken<'_>,
) -> Result<IdToken, ProviderError> {
    let claims = issuers
        .verify_signature(http, &expected.rules.issuer, token)
        .await?;
    check_claims(&claims, token, expected, unix_now())?;
    let map = claims.map();
    let profile = (expected.rules.read_claims)(map);
    // Identities are found by the subject, so an empty one would be shared by all users without a subject.
    if profile.subject.is_empty() {
        return Err(ProviderError::IdToken("its subject is missing"));
    }
    Ok(IdToken {
        profile,
        nonce: Fields::from(map).text("nonce").to_owned(),
        claims: map.clone(),
    })
}

/// Checks everything but signature and nonce. `now` is in unix seconds.
fn check_claims(
    claims: &Claims,
    token: &str,
    expected: &ExpectedIdToken<'_>,
    now: i64,
) -> Result<(), ProviderError> {
    let map = claims.map();
    if !expected.rules.is_issuer(Fields::from(map).text("iss")) {
        return Err(ProviderError::IdToken("its issuer is not the expected one"));
    }
    // `exp` is required: a token without it would be valid forever.
    if !map.get("exp").is_some_and(Value::is_number) {
        return Err(ProviderError::IdToken("it has no expiry"));
    }
    // JSON numbers may have a fraction, so times are compared as floating-point numbers.
    let number = |name: &str| map.get(name).and_then(Value::as_f64);
    #[expect(clippy::cast_precision_loss, reason = "seconds fit")]
    let now_s = now as f64;
    if number("exp").is_some_and(|exp| exp <= now_s) {
        return Err(ProviderError::IdToken("it is expired"));
    }
    #[expect(clippy::cast_precision_loss, reason = "seconds fit")]
    let latest = (now + CLOCK_LEEWAY_S) as f64;
    if ["nbf", "iat"]
        .into_iter()
        .filter_map(number)
        .any(|moment| moment > latest)
    {
        return Err(ProviderError::IdToken("it is not valid yet"));
    }
    if !read_audiences(map)
        .iter()
        .any(|audience| expected.audiences.iter().any(|ours| ours == audience))
    {
        return Err(ProviderError::Audience(read_audiences(map)));
    }
    // `at_hash` is optional (OpenID Connect Core §3.1.3.6), and some callers have no access token to compare it with.
    match (map.get("at_hash").and_then(Value::as_str), expected.access_token) {
        (Some(at_hash), Some(access_token)) if !is_hash_of(at_hash, access_token, token) => Err(
            ProviderError::IdToken("its at_hash does not match the access token"),
        ),
        _ => Ok(()),
    }
}

/// The members of `aud`, which is a string or a list of strings; empty for anything else.
fn read_audiences(claims: &Map<String, Value>) -> Vec<String> {
    match claims.get("aud") {
        Some(Value::String(audience)) if !audience.is_empty() => vec![audience.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Whether `at_hash` was made from this access token: base64url of the left half of the token's digest, where `alg` of
/// the ID token determines the digest (OpenID Connect Core §3.1.3.6).
fn is_hash_of(at_hash: &str, access_token: &str, id_token: &str) -> bool {
    let algorithm = decode_part(id_token, 0)
        .map(|header| Fields::from(&header).text("alg").to_owned())
        .unwrap_or_default();
    let digest = if algorithm.ends_with("256") {
        Sha256::digest(access_token).to_vec()
    } else if algorithm.ends_with("384") {
        Sha384::digest(access_token).to_vec()
    } else {
        // RS512, ES512 and PS512, and EdDSA, because Ed25519 uses SHA-512.
        Sha512::digest(access_token).to_vec()
    };
    let (left_half, _) = digest.split_at(digest.len() / 2);
    equal_secrets(at_hash, &URL_SAFE_NO_PAD.encode(left_half))
}

/// Reads `iss` of a token before anything is verified. Only for choosing the issuer whose keys then verify the token.
pub(super) fn read_unverified_issuer(token: &str) -> Option<String> {
    let claims = decode_part(token, 1)?;
    claims.get("iss").and_then(Value::as_str).map(str::to_owned)
}

/// Decodes one part of a JWT: 0 is the header, 1 the claims.
fn decode_part(token: &str, part: usize) -> Option<Value> {
    let bytes = URL_SAFE_NO_PAD.decode(token.split('.').nth(part)?).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Reads the standard claims (OpenID Connect Core §5.1) with the e-mail address.
pub(super) fn read_standard_claims(claims: &Map<String, Value>) -> Profile {
    let fields = Fields::from(claims);
    read_profile_claims(claims).with_email(fields.text("email"), fields.is_true("email_verified"))
}

/// Reads the standard claims without the e-mail address. They have the names of [`PROFILE_CLAIMS`] already.
pub(super) fn read_profile_claims(claims: &Map<String, Value>) -> Profile {
    let claims = Fields::from(claims);
    // Only `Profile::new` sets `provider_id`: identities of custom providers are stored without it.
    let mut profile = Profile::default().with_claim("iss", claims.text("iss"));
    claims.text("sub").clone_into(&mut profile.subject);
    for name in PROFILE_CLAIMS {
        profile = profile.with_claim(name, claims.text(name));
    }
    for name in ["updated_at", "custom_claims", "phone_verified"] {
        profile = profile.with_claim_value(name, claims.value(name));
    }
    profile
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::providers::issuer::Issuer;

    const NOW: i64 = 1_800_000_000;

    /// Checks a set of valid claims after applying `change` to it.
    fn check_changed(change: impl FnOnce(&mut Value)) -> Result<(), ProviderError> {
        let mut claims = json!({
            "iss": "https://id.example", "sub": "1", "aud": "us", "exp": NOW + 60, "iat": NOW,
        });
        change(&mut claims);
        let Value::Object(map) = claims else {
            unreachable!("an object stays one")
        };
        let rules = IdTokenRules {
            aliases: &["https://alias.example"],
            ..IdTokenRules::new(Issuer::new("https://id.example"), read_standard_claims)
        };
        let expected = ExpectedIdToken {
            rules: &rules,
            audiences: &["us".to_owned(), "our-app".to_owned()],
            access_token: None,
        };
        check_claims(&Claims::new(map), "", &expected, NOW)
    }

    #[test]
    fn auth_081_auth_082_id_tokens_need_the_right_issuer_audience_and_time() {
        assert!(check_changed(|_| {}).is_ok());
        assert!(check_changed(|claims| claims["aud"] = json!("our-app")).is_ok());
        assert!(check_changed(|claims| claims["aud"] = json!(["other", "us"])).is_ok());
        assert!(check_changed(|claims| claims["iss"] = json!("https://alias.example")).is_ok());
        assert!(check_changed(|claims| claims["iat"] = json!(NOW + 200)).is_ok());
        for (member, value) in [
            ("iss", json!("https://id.example/")),
            ("iss", json!("https://evil.example")),
            ("iss", json!(null)),
            ("aud", json!("us ")),
            ("aud", json!([])),
            ("aud", json!(null)),
            ("aud", json!("")),
            ("exp", json!(NOW)),
            ("exp", json!(null)),
            ("exp", json!("9999999999")),
            ("nbf", json!(NOW + 301)),
            ("iat", json!(NOW + 301)),
        ] {
            let shown = value.to_string();
            assert!(
                check_changed(|claims| claims[member] = value).is_err(),
                "{member} {shown}"
            );
        }
    }
}
