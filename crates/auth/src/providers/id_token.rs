//! ID tokens of other issuers: whether one is to be believed, and what it says about somebody. Source: Auth contract §8.4.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use selvedge_token::{Claims, unix_now};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::ProviderError;
use super::discovery::{Issuer, Issuers};
use super::profile::{Profile, VOCABULARY};
use crate::http_client::HttpClient;
use crate::rules::equal_secrets;

/// Clocks differ: a token may claim to be this much younger than we think.
const CLOCK_LEEWAY_S: i64 = 300;

/// How the claims of an issuer are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Standard,
    Google,
    Apple,
    Azure,
    Facebook,
    Kakao,
    LinkedIn,
    Snapchat,
    Vercel,
}

/// What a token must meet.
#[derive(Debug)]
pub(crate) struct Expected<'a> {
    pub(crate) issuer: &'a Issuer,
    /// Further spellings of the issuer that its tokens may carry.
    pub(crate) aliases: &'a [&'a str],
    pub(crate) audiences: &'a [String],
    /// Checked against `at_hash`, where both are there.
    pub(crate) access_token: Option<&'a str>,
    pub(crate) dialect: Dialect,
}

/// A token that is to be believed.
#[derive(Debug)]
pub(crate) struct IdToken {
    pub(crate) profile: Profile,
    pub(crate) nonce: String,
    pub(crate) claims: Map<String, Value>,
}

/// Checks signature, issuer, audience, time and `at_hash`.
pub(crate) async fn verify(
    http: &HttpClient,
    issuers: &Issuers,
    token: &str,
    expected: &Expected<'_>,
) -> Result<IdToken, ProviderError> {
    let claims = issuers.verify(http, expected.issuer, token).await?;
    check(&claims, token, expected, unix_now())?;
    let map = claims.map();
    let profile = profile(map, expected.dialect);
    if profile.subject.is_empty() {
        return Err(ProviderError::IdToken("its subject is missing"));
    }
    Ok(IdToken {
        profile,
        nonce: text(map, "nonce").to_owned(),
        claims: map.clone(),
    })
}

fn check(claims: &Claims, token: &str, expected: &Expected<'_>, now: i64) -> Result<(), ProviderError> {
    let map = claims.map();
    let issuer = text(map, "iss");
    if issuer != expected.issuer.name && !expected.aliases.contains(&issuer) {
        return Err(ProviderError::IdToken("it is of another issuer"));
    }
    if !map.get("exp").is_some_and(Value::is_number) {
        return Err(ProviderError::IdToken("it never expires"));
    }
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
        .any(|from| from > latest)
    {
        return Err(ProviderError::IdToken("it is not valid yet"));
    }
    if !audiences(map)
        .iter()
        .any(|audience| expected.audiences.iter().any(|ours| ours == audience))
    {
        return Err(ProviderError::Audience(audiences(map)));
    }
    match (map.get("at_hash").and_then(Value::as_str), expected.access_token) {
        (Some(at_hash), Some(access_token)) if !is_hash_of(at_hash, access_token, token) => {
            Err(ProviderError::IdToken("its at_hash is of another access token"))
        }
        _ => Ok(()),
    }
}

/// `aud`, a text or a list of texts.
fn audiences(claims: &Map<String, Value>) -> Vec<String> {
    match claims.get("aud") {
        Some(Value::String(audience)) if !audience.is_empty() => vec![audience.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// `at_hash` is the left half of the digest that belongs to the token's algorithm (OpenID Connect Core, 3.1.3.6).
fn is_hash_of(at_hash: &str, access_token: &str, id_token: &str) -> bool {
    let header = id_token
        .split('.')
        .next()
        .and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let header: Value = header
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let algorithm = header["alg"].as_str().unwrap_or_default();
    let digest = if algorithm.ends_with("256") {
        Sha256::digest(access_token).to_vec()
    } else if algorithm.ends_with("384") {
        Sha384::digest(access_token).to_vec()
    } else {
        Sha512::digest(access_token).to_vec()
    };
    equal_secrets(at_hash, &URL_SAFE_NO_PAD.encode(&digest[..digest.len() / 2]))
}

/// The issuer that a token claims to be of, before anything is checked: to find the keys of one of several.
pub(crate) fn claimed_issuer(token: &str) -> Option<String> {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    claims["iss"].as_str().map(str::to_owned)
}

fn text<'a>(claims: &'a Map<String, Value>, name: &str) -> &'a str {
    claims.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Providers write booleans as such, as texts, and as numbers.
pub(super) fn is_true(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) => matches!(text.as_str(), "true" | "1"),
        Some(Value::Number(number)) => number.as_i64() == Some(1),
        _ => false,
    }
}

/// Reads the claims in the issuer's dialect.
pub(super) fn profile(claims: &Map<String, Value>, dialect: Dialect) -> Profile {
    let text = |name: &str| text(claims, name);
    let verified = is_true(claims.get("email_verified"));
    let base = || Profile::new(text("iss"), text("sub"));
    match dialect {
        Dialect::Standard => standard(claims).mailed(text("email"), verified),
        Dialect::Google => base()
            .named(text("name"))
            .pictured(text("picture"))
            .custom("hd", non_empty(text("hd")))
            .mailed(text("email"), verified || is_true(claims.get("verified_email"))),
        Dialect::Apple => {
            let private = claims.get("is_private_email");
            base()
                .custom(
                    "is_private_email",
                    private.map_or(Value::Null, |flag| json!(is_true(Some(flag)))),
                )
                .custom("auth_time", claims.get("auth_time").cloned().unwrap_or_default())
                .custom("transfer_sub", non_empty(text("transfer_sub")))
                .mailed(text("email"), true)
        }
        Dialect::Azure => azure(claims),
        Dialect::Facebook => base()
            .with("name", text("name"))
            .with("picture", text("picture"))
            .mailed(text("email"), true),
        Dialect::Kakao => base()
            .with("name", text("nickname"))
            .with("preferred_username", text("nickname"))
            .with("picture", text("picture"))
            .mailed(text("email"), true),
        Dialect::LinkedIn => base()
            .with(
                "name",
                format!("{} {}", text("given_name"), text("family_name")).trim(),
            )
            .with("given_name", text("given_name"))
            .with("family_name", text("family_name"))
            .with("locale", text("locale"))
            .with("picture", text("picture"))
            .mailed(text("email"), verified),
        Dialect::Snapchat => standard(claims).mailed(text("email"), true),
        Dialect::Vercel => {
            let global = text("global_user_id");
            let subject = if global.is_empty() {
                text("sub").to_owned()
            } else {
                format!("global_user_id:{global}")
            };
            Profile::new(text("iss"), subject)
                .with("name", text("user_name"))
                .with("picture", text("user_avatar_url"))
                .mailed(text("user_email"), true)
        }
    }
}

/// The standard's claims have the vocabulary's names already.
pub(super) fn standard(claims: &Map<String, Value>) -> Profile {
    let mut profile = Profile::default().with("iss", text(claims, "iss"));
    profile.subject = text(claims, "sub").to_owned();
    for name in VOCABULARY {
        profile = profile.with(name, text(claims, name));
    }
    for name in ["updated_at", "custom_claims", "phone_verified"] {
        profile = profile.with_value(name, claims.get(name).cloned().unwrap_or_default());
    }
    profile
}

/// Azure tells by `xms_edov` whether the owner of the domain vouches for the address.
fn azure(claims: &Map<String, Value>) -> Profile {
    const KNOWN: [&str; 16] = [
        "aud",
        "iss",
        "iat",
        "nbf",
        "exp",
        "c_hash",
        "at_hash",
        "aio",
        "nonce",
        "rh",
        "uti",
        "jti",
        "ver",
        "sub",
        "name",
        "preferred_username",
    ];
    let verified = claims.get("xms_edov").is_none_or(|edov| is_true(Some(edov)));
    let profile = Profile::new(text(claims, "iss"), text(claims, "sub"))
        .with("preferred_username", text(claims, "preferred_username"))
        .with("full_name", text(claims, "name"))
        .mailed(text(claims, "email"), verified);
    claims
        .iter()
        .filter(|(name, _)| !KNOWN.contains(&name.as_str()))
        .fold(profile, |profile, (name, value)| {
            profile.custom(name, value.clone())
        })
}

fn non_empty(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { json!(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn verdict(change: impl FnOnce(&mut Value)) -> Result<(), ProviderError> {
        let mut claims = json!({
            "iss": "https://id.example", "sub": "1", "aud": "us", "exp": NOW + 60, "iat": NOW,
        });
        change(&mut claims);
        let Value::Object(map) = claims else {
            unreachable!("an object stays one")
        };
        let issuer = Issuer::new("https://id.example");
        let expected = Expected {
            issuer: &issuer,
            aliases: &["https://alias.example"],
            audiences: &["us".to_owned(), "our-app".to_owned()],
            access_token: None,
            dialect: Dialect::Standard,
        };
        check(&Claims::new(map), "", &expected, NOW)
    }

    #[test]
    fn auth_081_auth_082_issuer_audience_and_time_must_fit() {
        assert!(verdict(|_| {}).is_ok());
        assert!(verdict(|claims| claims["aud"] = json!("our-app")).is_ok());
        assert!(verdict(|claims| claims["aud"] = json!(["other", "us"])).is_ok());
        assert!(verdict(|claims| claims["iss"] = json!("https://alias.example")).is_ok());
        assert!(verdict(|claims| claims["iat"] = json!(NOW + 200)).is_ok());
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
                verdict(|claims| claims[member] = value).is_err(),
                "{member} {shown}"
            );
        }
    }

    #[test]
    fn azure_vouches_for_an_address_unless_it_says_otherwise() {
        let verified = |edov: Value| {
            let claims = json!({"iss": "i", "sub": "1", "email": "a@b.c", "xms_edov": edov, "tid": "t"});
            let profile = profile(claims.as_object().expect("an object"), Dialect::Azure);
            profile.email().is_some_and(|email| email.verified)
        };
        assert!(verified(json!(true)) && verified(json!("1")) && verified(json!(1)));
        assert!(!verified(json!(false)) && !verified(json!("0")) && !verified(json!("no")));
    }
}
