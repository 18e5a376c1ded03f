//! What may be registered as a program of the OAuth server, and how such a program proves itself. Source: Auth contract §2.16.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::RngExt;
use sha2::{Digest, Sha256};
use url::Url;

use super::equal_secrets;
use crate::error::AuthError;

/// Scopes that a program may ask for.
pub(crate) const SCOPES: [&str; 5] = ["openid", "profile", "email", "phone", "offline_access"];

const MOST_REDIRECT_URIS: usize = 10;
const LONGEST_NAME: usize = 1024;
const LONGEST_URI: usize = 2048;
/// Schemes by which a browser would run or show something instead of calling the program.
const DANGEROUS_SCHEMES: [&str; 6] = ["javascript", "data", "file", "vbscript", "about", "blob"];

/// How a program shows its secret at the token endpoint, in the words of the wire.
pub(crate) const NONE: &str = "none";
pub(crate) const SECRET_BASIC: &str = "client_secret_basic";
pub(crate) const SECRET_POST: &str = "client_secret_post";
const METHODS: [&str; 3] = [NONE, SECRET_BASIC, SECRET_POST];

/// Checks the addresses that a program may be called back at.
///
/// # Errors
/// 400 with what is wrong.
pub(crate) fn check_redirect_uris(uris: &[String]) -> Result<(), AuthError> {
    if uris.is_empty() {
        return Err(AuthError::invalid("redirect_uris is required"));
    }
    if uris.len() > MOST_REDIRECT_URIS {
        return Err(AuthError::invalid("redirect_uris cannot exceed 10 items"));
    }
    for uri in uris {
        check_redirect_uri(uri)
            .map_err(|reason| AuthError::invalid(format!("invalid redirect_uri '{uri}': {reason}")))?;
    }
    Ok(())
}

fn check_redirect_uri(uri: &str) -> Result<(), &'static str> {
    if uri.is_empty() {
        return Err("redirect URI cannot be empty");
    }
    // The stored list is separated by commas, so none may hide in an address.
    if uri.len() > LONGEST_URI || uri.contains(|c: char| c == ',' || c.is_control() || c.is_whitespace()) {
        return Err("invalid URL format");
    }
    let url = Url::parse(uri).map_err(|_| "invalid URL format")?;
    if DANGEROUS_SCHEMES.contains(&url.scheme()) {
        return Err("scheme is not allowed for security reasons");
    }
    let host = url.host_str().unwrap_or_default();
    if host.is_empty() {
        return Err("must have scheme and host");
    }
    if url.scheme() == "http" && !matches!(host, "localhost" | "127.0.0.1" | "[::1]") {
        return Err("HTTP scheme only allowed for localhost");
    }
    if url.fragment().is_some() {
        return Err("fragment not allowed in redirect URI");
    }
    Ok(())
}

/// Checks what a program may do with us.
///
/// # Errors
/// 400 with what is wrong.
pub(crate) fn check_grant_types(types: &[String]) -> Result<(), AuthError> {
    if types.is_empty() {
        return Err(AuthError::invalid("grant_types cannot be empty"));
    }
    if types
        .iter()
        .any(|kind| !matches!(kind.as_str(), "authorization_code" | "refresh_token"))
    {
        return Err(AuthError::invalid(
            "grant_types must only contain 'authorization_code' and/or 'refresh_token'",
        ));
    }
    Ok(())
}

/// Checks how a program is shown to users.
///
/// # Errors
/// 400 with what is wrong.
pub(crate) fn check_texts(name: &str, client_uri: &str, logo_uri: &str) -> Result<(), AuthError> {
    if name.chars().count() > LONGEST_NAME {
        return Err(AuthError::invalid("client_name cannot exceed 1024 characters"));
    }
    for (member, uri) in [("client_uri", client_uri), ("logo_uri", logo_uri)] {
        if uri.chars().count() > LONGEST_URI {
            return Err(AuthError::invalid(format!(
                "{member} cannot exceed 2048 characters"
            )));
        }
        let is_web = Url::parse(uri).is_ok_and(|url| matches!(url.scheme(), "https" | "http"));
        if !uri.is_empty() && !is_web {
            return Err(AuthError::invalid(format!("{member} must be a valid URL")));
        }
    }
    Ok(())
}

/// Decides type and method of a new program from what it says of either.
///
/// # Errors
/// 400 when they are unknown, or contradict each other.
pub(crate) fn client_kind(
    client_type: &str,
    method: &str,
) -> Result<(&'static str, &'static str), AuthError> {
    let method = match method {
        "" => None,
        name => Some(parse_method(name)?),
    };
    let of_method = |method: &str| if method == NONE { "public" } else { "confidential" };
    let kind = match (client_type, method) {
        ("public", _) => "public",
        ("confidential", _) => "confidential",
        ("", Some(method)) => of_method(method),
        ("", None) => "confidential",
        _ => {
            return Err(AuthError::invalid(
                "client_type must be 'public' or 'confidential'",
            ));
        }
    };
    if let Some(method) = method.filter(|method| of_method(method) != kind) {
        return Err(AuthError::invalid(format!(
            "client_type '{kind}' is inconsistent with token_endpoint_auth_method '{method}' (expected client_type '{}')",
            of_method(method)
        )));
    }
    let default = if kind == "public" { NONE } else { SECRET_BASIC };
    Ok((kind, method.unwrap_or(default)))
}

/// # Errors
/// 400 for an unknown method.
pub(crate) fn parse_method(name: &str) -> Result<&'static str, AuthError> {
    METHODS
        .iter()
        .find(|&&method| method == name)
        .copied()
        .ok_or_else(|| {
            AuthError::invalid(format!(
                "token_endpoint_auth_method must be one of: [{}]",
                METHODS.join(" ")
            ))
        })
}

/// A new secret and what is stored of it.
pub(crate) fn new_secret() -> (String, String) {
    let bytes: [u8; 32] = rand::rng().random();
    let secret = URL_SAFE_NO_PAD.encode(bytes);
    let hash = hash_secret(&secret);
    (secret, hash)
}

/// The secret is random, so a plain digest is as good as a slow one.
fn hash_secret(secret: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(secret))
}

/// Whether this is the secret of which `hash` is stored.
pub(crate) fn is_secret(secret: &str, hash: &str) -> bool {
    !hash.is_empty() && equal_secrets(&hash_secret(secret), hash)
}

/// The scopes of a request, without repetition.
///
/// # Errors
/// The reason, for the redirect.
pub(crate) fn parse_scopes(text: &str) -> Result<Vec<&str>, String> {
    let mut scopes: Vec<&str> = Vec::new();
    for scope in text.split(' ').filter(|scope| !scope.is_empty()) {
        if !SCOPES.contains(&scope) {
            return Err(format!("unsupported scope: {scope}"));
        }
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    if scopes.is_empty() {
        return Err("scope parameter cannot be empty".to_owned());
    }
    Ok(scopes)
}

/// Checks `resource` (RFC 8707): an absolute URI without query and fragment.
pub(crate) fn check_resource(resource: &str) -> Result<(), &'static str> {
    if resource.is_empty() {
        return Ok(());
    }
    let url = Url::parse(resource).map_err(|_| "resource must be an absolute URI")?;
    match (url.fragment(), url.query()) {
        (Some(_), _) => Err("resource must not include a fragment component"),
        (_, Some(_)) => Err("resource must not include a query component"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_099_a_program_is_called_back_by_https_on_loopback_or_by_its_own_scheme() {
        for good in [
            "https://app.example/cb",
            "http://localhost:3000/cb",
            "http://127.0.0.1/cb?x=1",
            "http://[::1]:8080/",
            "com.example.app://callback",
        ] {
            assert_eq!(check_redirect_uri(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "/relative",
            "http://app.example/cb",
            "https://app.example/cb#x",
            "javascript://x/%0aalert(1)",
            "data:text/html,x",
            "https://a.example/,https://evil.example/",
            "https://a.example/\nx",
        ] {
            assert!(check_redirect_uri(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn type_and_method_fit_each_other() {
        assert_eq!(client_kind("", "").ok(), Some(("confidential", SECRET_BASIC)));
        assert_eq!(client_kind("public", "").ok(), Some(("public", NONE)));
        assert_eq!(client_kind("", "none").ok(), Some(("public", NONE)));
        assert_eq!(
            client_kind("", SECRET_POST).ok(),
            Some(("confidential", SECRET_POST))
        );
        assert!(client_kind("public", SECRET_BASIC).is_err());
        assert!(client_kind("secret", "").is_err());
        assert!(client_kind("", "private_key_jwt").is_err());
    }

    #[test]
    fn secrets_are_stored_as_digests() {
        let (secret, hash) = new_secret();
        assert_ne!(secret, hash);
        assert!(is_secret(&secret, &hash));
        assert!(!is_secret("x", &hash) && !is_secret(&secret, "") && !is_secret("", &hash));
    }
}
