//! Validation of OAuth clients (applications that use this server as their OAuth provider), and their secrets. Source:
//! Auth contract §2.16.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::RngExt;
use sha2::{Digest, Sha256};
use url::Url;

use crate::crypto::equal_secrets;
use crate::error::AuthError;

/// Scopes that a client may request.
pub(crate) const SCOPES: [&str; 5] = ["openid", "profile", "email", "phone", "offline_access"];

// GoTrue's limits for registered clients; the error texts below repeat the numbers.
const MAX_REDIRECT_URIS: usize = 10;
const MAX_NAME_CHARS: usize = 1024;
const MAX_URI_CHARS: usize = 2048;
/// Schemes with which a browser would run or show the content of the URI instead of calling the client.
const DANGEROUS_SCHEMES: [&str; 6] = ["javascript", "data", "file", "vbscript", "about", "blob"];

/// Values of `token_endpoint_auth_method` (RFC 7591, §2): how a client sends its secret.
pub(crate) const NONE: &str = "none";
pub(crate) const SECRET_BASIC: &str = "client_secret_basic";
pub(crate) const SECRET_POST: &str = "client_secret_post";
const METHODS: [&str; 3] = [NONE, SECRET_BASIC, SECRET_POST];

/// Validates the redirect URIs of a client: one to ten, each absolute and without a fragment.
///
/// # Errors
/// 400 `validation_failed`; the message names the rejected URI and the reason.
pub(crate) fn check_redirect_uris(uris: &[String]) -> Result<(), AuthError> {
    if uris.is_empty() {
        return Err(AuthError::invalid("redirect_uris is required"));
    }
    if uris.len() > MAX_REDIRECT_URIS {
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
    // The stored list is separated by commas, so a URI with a comma would become two.
    if uri.len() > MAX_URI_CHARS || uri.contains(|c: char| c == ',' || c.is_control() || c.is_whitespace()) {
        return Err("invalid URL format");
    }
    let url = Url::parse(uri).map_err(|_| "invalid URL format")?;
    if DANGEROUS_SCHEMES.contains(&url.scheme()) {
        return Err("scheme is not allowed for security reasons");
    }
    // A custom scheme belongs to an app and needs no host: `com.example.app:/callback` (RFC 8252 §7.1). Without a slash,
    // as in `mailto:someone`, the rest of the URI is no place that the code could be appended to as a query.
    let host = url.host_str().unwrap_or_default();
    if url.cannot_be_a_base() {
        return Err("must have a host or a path");
    }
    // Plain http would send the authorization code over the network unencrypted; on loopback it stays on the user's
    // machine.
    if url.scheme() == "http" && !matches!(host, "localhost" | "127.0.0.1" | "[::1]") {
        return Err("HTTP scheme only allowed for localhost");
    }
    if url.fragment().is_some() {
        return Err("fragment not allowed in redirect URI");
    }
    Ok(())
}

/// Validates the grant types of a client: `authorization_code`, `refresh_token` or both.
///
/// # Errors
/// 400 `validation_failed` for an empty list or another grant type.
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

/// Validates the name and the links that users see on the consent page; each may be empty.
///
/// # Errors
/// 400 `validation_failed` for a text that is too long, or a link that is not an http(s) URL.
pub(crate) fn check_texts(name: &str, client_uri: &str, logo_uri: &str) -> Result<(), AuthError> {
    if name.chars().count() > MAX_NAME_CHARS {
        return Err(AuthError::invalid("client_name cannot exceed 1024 characters"));
    }
    for (member, uri) in [("client_uri", client_uri), ("logo_uri", logo_uri)] {
        if uri.chars().count() > MAX_URI_CHARS {
            return Err(AuthError::invalid(format!(
                "{member} cannot exceed 2048 characters"
            )));
        }
        // The consent page shows these as a link and a picture, so a `javascript:` URL would run there.
        let is_web = Url::parse(uri).is_ok_and(|url| matches!(url.scheme(), "https" | "http"));
        if !uri.is_empty() && !is_web {
            return Err(AuthError::invalid(format!("{member} must be a valid URL")));
        }
    }
    Ok(())
}

/// Decides `client_type` and `token_endpoint_auth_method` of a client. Either may be empty and then follows from the
/// other; without both, the client is confidential and sends its secret by HTTP Basic.
///
/// # Errors
/// 400 `validation_failed` for an unknown value, and for a public client with a secret or a confidential one without.
pub(crate) fn choose_client_type(
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

/// Parses a `token_endpoint_auth_method`.
///
/// # Errors
/// 400 `validation_failed` for an unknown method.
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

/// Generates a client secret of 32 random bytes; returns the secret in base64url and the hash to store.
pub(crate) fn generate_secret() -> (String, String) {
    let bytes: [u8; 32] = rand::rng().random();
    let secret = URL_SAFE_NO_PAD.encode(bytes);
    let hash = hash_secret(&secret);
    (secret, hash)
}

/// Hashes a client secret with SHA-256. A salt and a slow hash are not needed: the secret has 256 random bits, so it
/// cannot be guessed.
fn hash_secret(secret: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(secret))
}

/// Whether this is the secret whose hash is stored. An empty stored hash, which public clients have, matches no secret.
pub(crate) fn matches_secret(secret: &str, hash: &str) -> bool {
    !hash.is_empty() && equal_secrets(&hash_secret(secret), hash)
}

/// Parses the `scope` parameter: names separated by spaces. Returns each scope once, in the order of the request.
///
/// # Errors
/// The error description for the redirect to the client.
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

/// Checks `resource` (RFC 8707 §2): empty, or an absolute URI without query and fragment.
///
/// # Errors
/// The error description for the client.
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
    fn auth_099_redirect_uri_is_https_loopback_or_a_custom_scheme() {
        for good in [
            "https://app.example/cb",
            "http://localhost:3000/cb",
            "http://127.0.0.1/cb?x=1",
            "http://[::1]:8080/",
            "com.example.app://callback",
            "com.example.app:/callback",
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
            "mailto:someone@app.example",
            "com.example.app:callback",
            "https://a.example/,https://evil.example/",
            "https://a.example/\nx",
        ] {
            assert!(check_redirect_uri(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn client_type_and_auth_method_must_agree() {
        assert_eq!(
            choose_client_type("", "").ok(),
            Some(("confidential", SECRET_BASIC))
        );
        assert_eq!(choose_client_type("public", "").ok(), Some(("public", NONE)));
        assert_eq!(choose_client_type("", "none").ok(), Some(("public", NONE)));
        assert_eq!(
            choose_client_type("", SECRET_POST).ok(),
            Some(("confidential", SECRET_POST))
        );
        assert!(choose_client_type("public", SECRET_BASIC).is_err());
        assert!(choose_client_type("secret", "").is_err());
        assert!(choose_client_type("", "private_key_jwt").is_err());
    }

    #[test]
    fn only_the_hash_of_a_client_secret_matches_it() {
        let (secret, hash) = generate_secret();
        assert_ne!(secret, hash);
        assert!(matches_secret(&secret, &hash));
        assert!(!matches_secret("x", &hash) && !matches_secret(&secret, "") && !matches_secret("", &hash));
    }
}
