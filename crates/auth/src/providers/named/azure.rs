//! Azure (Microsoft Entra ID): OpenID Connect with one issuer per tenant. `url` is
//! `https://login.microsoftonline.com/<tenant>`; without it, users of any tenant may sign in.

use serde_json::{Map, Value};

use crate::error::ProviderError;
use crate::providers::definition::{
    Definition, Endpoints, IdTokenRules, NamedProvider, ProfileSource, choose_base_url,
};
use crate::providers::id_token::read_unverified_issuer;
use crate::providers::issuer::Issuer;
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "azure",
    define,
    id_token_rules: |url, token| Some(choose_id_token_rules(url, token)),
};

/// Claims of the protocol, and claims that have a place in the profile. All others are stored below `custom_claims`.
const KNOWN_CLAIMS: [&str; 16] = [
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

/// The tenant, and with it the issuer, is known only from the ID token; so the endpoints are fixed, and the rules are
/// chosen by the token.
fn define(url: Option<&str>) -> Option<Definition> {
    let base = choose_base_url(url, "https://login.microsoftonline.com/common");
    let endpoints = Endpoints::Fixed {
        authorize: format!("{base}/oauth2/v2.0/authorize"),
        token: format!("{base}/oauth2/v2.0/token"),
    };
    let source = ProfileSource::TenantIdToken {
        url: base,
        rules: |url, token| choose_id_token_rules(Some(url), token),
    };
    Some(Definition::new(endpoints, source, &["openid"]))
}

/// Chooses the rules by the issuer that the unverified token names; the keys of that issuer then verify the token.
///
/// A project whose `url` names one tenant accepts no other. `common`, `organizations` and `consumers` stand for many
/// tenants, so every issuer of Azure is accepted with them.
///
/// # Errors
/// [`ProviderError::IdToken`] when the issuer is missing, is another tenant, or is not Azure.
fn choose_id_token_rules(url: Option<&str>, token: &str) -> Result<IdTokenRules, ProviderError> {
    let claimed = read_unverified_issuer(token).ok_or(ProviderError::IdToken("it has no issuer"))?;
    let expected = url.map(|base| format!("{base}/v2.0"));
    let is_one_tenant = |issuer: &String| {
        let shared = ["/common/", "/organizations/", "/consumers/"];
        !shared.iter().any(|tenants| issuer.contains(tenants))
    };
    match expected.filter(is_one_tenant) {
        Some(expected) if expected != claimed => Err(ProviderError::IdToken(
            "its issuer is another tenant than the configured one",
        )),
        None if !is_azure_issuer(&claimed) => Err(ProviderError::IdToken("its issuer is not Azure")),
        Some(_) => Ok(IdTokenRules::new(Issuer::new(claimed), read_claims_of_own_tenant)),
        None => Ok(IdTokenRules::new(Issuer::new(claimed), read_claims_of_any_tenant)),
    }
}

/// Whether this is `https://login.microsoftonline.com/<tenant>/v2.0`.
///
/// The issuer determines the host that keys are fetched from. Therefore the tenant may only contain letters, digits and
/// `-._`: a slash, `?` or `@` could lead to another URL.
fn is_azure_issuer(issuer: &str) -> bool {
    issuer
        .strip_prefix("https://login.microsoftonline.com/")
        .and_then(|rest| rest.strip_suffix("/v2.0").or(rest.strip_suffix("/v2.0/")))
        .is_some_and(|tenant| {
            !tenant.is_empty()
                && tenant
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        })
}

/// Reads the claims of the tenant that the project has chosen, whose administrators it trusts with its addresses.
fn read_claims_of_own_tenant(claims: &Map<String, Value>) -> Profile {
    read_claims(claims, true)
}

/// Reads the claims of any tenant. Its administrators may give their users any address, so that without `xms_edov` it
/// proves nothing. GoTrue treats it as verified.
fn read_claims_of_any_tenant(claims: &Map<String, Value>) -> Profile {
    read_claims(claims, false)
}

/// Reads Azure's claims. `xms_edov` says whether the owner of the e-mail domain has verified the address; Azure sends
/// this claim only if the app's registration asks for it, and without it `is_trusted` decides.
fn read_claims(claims: &Map<String, Value>, is_trusted: bool) -> Profile {
    let fields = Fields::from(claims);
    let is_verified = if fields.has("xms_edov") {
        fields.is_true("xms_edov")
    } else {
        is_trusted
    };
    let profile = Profile::new(fields.text("iss"), fields.text("sub"))
        .with_claim("preferred_username", fields.text("preferred_username"))
        .with_claim("full_name", fields.text("name"))
        .with_email(fields.text("email"), is_verified);
    claims
        .iter()
        .filter(|(name, _)| !KNOWN_CLAIMS.contains(&name.as_str()))
        .fold(profile, |profile, (name, value)| {
            profile.with_custom_claim(name, value.clone())
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn azure_issuer_is_a_microsoft_url_with_one_plain_tenant() {
        assert!(is_azure_issuer(
            "https://login.microsoftonline.com/9188040d-6c67/v2.0"
        ));
        for wrong in [
            "https://login.microsoftonline.com//v2.0",
            "https://login.microsoftonline.com/a/b/v2.0",
            "https://login.microsoftonline.com.evil.example/a/v2.0",
            "https://login.microsoftonline.com/a?x=/v2.0",
        ] {
            assert!(!is_azure_issuer(wrong), "{wrong}");
        }
    }

    #[test]
    fn auth_104_azure_addresses_are_verified_by_xms_edov_or_by_the_projects_own_tenant() {
        let claims = json!({"iss": "i", "sub": "1", "email": "a@b.c", "tid": "t"});
        let claims = claims.as_object().expect("an object");
        let is_verified = |profile: Profile| profile.email().is_some_and(|email| email.verified);
        assert!(is_verified(read_claims_of_own_tenant(claims)));
        assert!(!is_verified(read_claims_of_any_tenant(claims)));
        let is_verified = |edov: Value| {
            let claims = json!({"iss": "i", "sub": "1", "email": "a@b.c", "xms_edov": edov, "tid": "t"});
            let profile = read_claims_of_any_tenant(claims.as_object().expect("an object"));
            profile.email().is_some_and(|email| email.verified)
        };
        assert!(is_verified(json!(true)) && is_verified(json!("1")) && is_verified(json!(1)));
        assert!(!is_verified(json!(false)) && !is_verified(json!("0")) && !is_verified(json!("no")));
    }
}
