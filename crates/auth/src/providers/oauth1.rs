//! OAuth 1.0a (RFC 5849), which only the provider `twitter` uses: a request token before the browser leaves, an access
//! token after it is back, and an HMAC-SHA1 signature on every call.
//!
//! Source: Auth contract §2.11, §8.1.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use hyper::header::AUTHORIZATION;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use sha1::Sha1;
use uuid::Uuid;

use super::addresses::Addresses;
use super::code_exchange::ProviderTokens;
use super::json_fields::Fields;
use super::profile::Profile;
use crate::config::ProviderConfig;
use crate::error::ProviderError;
use crate::http_client::{Call, CallResponse, HttpClient};

/// Percent-encodes everything but the unreserved characters of RFC 3986, as RFC 5849 §3.6 requires for signed text.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A request token or an access token, with the secret that signs the calls made with it.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct OAuth1Token {
    /// `oauth_token`, which is sent with each call.
    token: String,
    /// `oauth_token_secret`, a part of the signing key; it is never sent back.
    secret: String,
}

impl OAuth1Token {
    /// Token and secret in one string, to be stored in `auth.oauth_client_states` until the browser is back.
    pub(crate) fn to_database_text(&self) -> String {
        format!("{} {}", self.token, self.secret)
    }

    /// Reverses [`Self::to_database_text`].
    fn from_database_text(text: &str) -> Option<Self> {
        let (token, secret) = text.split_once(' ')?;
        Some(Self {
            token: token.to_owned(),
            secret: secret.to_owned(),
        })
    }

    /// Reads the form-encoded response to a token request.
    ///
    /// # Errors
    /// [`ProviderError::Exchange`] for a failure status, or without a usable token.
    fn from_response(response: &CallResponse) -> Result<Self, ProviderError> {
        let refused = || ProviderError::Exchange {
            host: response.host.clone(),
            status: response.status,
        };
        if !(200..300).contains(&response.status) {
            return Err(refused());
        }
        let field = |name: &str| {
            let mut pairs = url::form_urlencoded::parse(&response.body);
            let found = pairs.find(|(known, _)| known == name);
            found.map_or_else(String::new, |(_, value)| value.into_owned())
        };
        let token = Self {
            token: field("oauth_token"),
            secret: field("oauth_token_secret"),
        };
        // `to_database_text` separates token and secret by a space, so a token that contains one could not be read back.
        if token.token.is_empty() || token.token.contains(' ') {
            return Err(refused());
        }
        Ok(token)
    }
}

/// A call before it is signed.
struct UnsignedCall<'a> {
    method: &'a str,
    /// The URL without its query.
    url: &'a str,
    /// Parameters of the query; the signature covers them as well.
    query: &'a [(&'a str, &'a str)],
    /// `oauth_…` parameters of this call, in addition to those of every call.
    extra: &'a [(&'a str, &'a str)],
    /// The token that the call is made with; empty for the request token's own call.
    token: &'a OAuth1Token,
}

impl UnsignedCall<'_> {
    /// Returns the value of the Authorization header; base string and key are built as in RFC 5849 §3.4.
    fn sign_call(&self, client: &ProviderConfig, nonce: &str, unix_seconds: i64) -> String {
        let timestamp = unix_seconds.to_string();
        let mut oauth_params = vec![
            ("oauth_consumer_key", client.client_id()),
            ("oauth_nonce", nonce),
            ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", &timestamp),
            ("oauth_version", "1.0"),
        ];
        oauth_params.extend(self.extra);
        if !self.token.token.is_empty() {
            oauth_params.push(("oauth_token", &self.token.token));
        }
        let mut signed: Vec<(String, String)> = oauth_params
            .iter()
            .chain(self.query)
            .map(|(name, value)| (percent_encode(name), percent_encode(value)))
            .collect();
        // RFC 5849 §3.4.1.3.2: sorted by name, then by value, both after encoding.
        signed.sort();
        let pairs: Vec<String> = signed
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let base = format!(
            "{}&{}&{}",
            self.method,
            percent_encode(self.url),
            percent_encode(&pairs.join("&"))
        );
        let key = format!(
            "{}&{}",
            percent_encode(client.expose_secret()),
            percent_encode(&self.token.secret)
        );
        let mut mac = Hmac::<Sha1>::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
        mac.update(base.as_bytes());
        let signature = STANDARD.encode(mac.finalize().into_bytes());
        oauth_params.push(("oauth_signature", &signature));
        let parts: Vec<String> = oauth_params
            .iter()
            .map(|(name, value)| format!("{}=\"{}\"", percent_encode(name), percent_encode(value)))
            .collect();
        format!("OAuth {}", parts.join(", "))
    }

    /// Signs the call with a new nonce and the current time, and sends it.
    async fn send(&self, http: &HttpClient, client: &ProviderConfig) -> Result<CallResponse, ProviderError> {
        let nonce = Uuid::new_v4().simple().to_string();
        let header = self.sign_call(client, &nonce, chrono::Utc::now().timestamp());
        let call = if self.method == "POST" {
            Call::post_form(self.url, &[])
        } else {
            let query = url::form_urlencoded::Serializer::new(String::new())
                .extend_pairs(self.query)
                .finish();
            Call::get(format!("{}?{query}", self.url))
        };
        Ok(http.send(call.header(AUTHORIZATION, &header)).await?)
    }
}

/// Fetches the request token that a sign-in starts with (RFC 5849 §2.1). OAuth 1.0a has no parameter for `state`, so
/// `state` is part of the callback URL.
pub(super) async fn fetch_request_token(
    http: &HttpClient,
    client: &ProviderConfig,
    api: &str,
    state: &str,
) -> Result<OAuth1Token, ProviderError> {
    let callback = format!("{}?state={state}", client.redirect_uri);
    let call = UnsignedCall {
        method: "POST",
        url: &Addresses::from_config(client).resolve_url(&format!("{api}/oauth/request_token")),
        query: &[],
        extra: &[("oauth_callback", &callback)],
        token: &OAuth1Token::default(),
    };
    OAuth1Token::from_response(&call.send(http, client).await?)
}

/// The URL of the provider's sign-in page (RFC 5849 §2.2).
pub(super) fn build_authenticate_url(client: &ProviderConfig, api: &str, token: &OAuth1Token) -> String {
    let page = Addresses::from_config(client).resolve_url(&format!("{api}/oauth/authenticate"));
    format!("{page}?oauth_token={}", percent_encode(&token.token))
}

/// Exchanges the stored request token and the callback's `oauth_verifier` for an access token (RFC 5849 §2.3).
///
/// # Errors
/// [`ProviderError::MissingEndpoint`] when no request token was stored; [`ProviderError::Exchange`] when the provider
/// refuses.
pub(super) async fn exchange_verifier(
    http: &HttpClient,
    client: &ProviderConfig,
    api: &str,
    verifier: &str,
    stored: Option<&str>,
) -> Result<ProviderTokens, ProviderError> {
    let token = stored
        .and_then(OAuth1Token::from_database_text)
        .ok_or(ProviderError::MissingEndpoint("request token"))?;
    let call = UnsignedCall {
        method: "POST",
        url: &Addresses::from_config(client).resolve_url(&format!("{api}/oauth/access_token")),
        query: &[],
        extra: &[("oauth_verifier", verifier)],
        token: &token,
    };
    let access = OAuth1Token::from_response(&call.send(http, client).await?)?;
    Ok(ProviderTokens {
        access_token: access.token,
        refresh_token: None,
        id_token: None,
        response: json!({ "oauth_token_secret": access.secret }),
    })
}

/// Fetches the profile of the user whom the access token belongs to.
///
/// # Errors
/// A call that fails, and [`ProviderError::NoSubject`] for a response without a user id.
pub(super) async fn fetch_profile(
    http: &HttpClient,
    client: &ProviderConfig,
    api: &str,
    tokens: &ProviderTokens,
) -> Result<Profile, ProviderError> {
    let issuer = format!("{api}/1.1/account/verify_credentials.json");
    let call = UnsignedCall {
        method: "GET",
        url: &Addresses::from_config(client).resolve_url(&issuer),
        query: &[
            ("include_entities", "false"),
            ("skip_status", "true"),
            // Twitter returns the address only on request.
            ("include_email", "true"),
        ],
        extra: &[],
        token: &OAuth1Token {
            token: tokens.access_token.clone(),
            secret: Fields::from(&tokens.response)
                .text("oauth_token_secret")
                .to_owned(),
        },
    };
    let response = call.send(http, client).await?.json()?;
    let user = Fields::from(&response);
    // `id` is too large for the numbers of JavaScript; `id_str` has the same digits as a string.
    let subject = user.text("id_str");
    if subject.is_empty() {
        return Err(ProviderError::NoSubject);
    }
    Ok(Profile::new(&issuer, subject)
        .with_full_name(user.text("name"))
        .with_claim("preferred_username", user.text("screen_name"))
        .with_claim("user_name", user.text("screen_name"))
        .with_picture(user.text("profile_image_url_https"))
        // Twitter returns only verified e-mail addresses.
        .with_email(user.text("email"), true))
}

fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twitter_config() -> ProviderConfig {
        ProviderConfig {
            name: "twitter".to_owned(),
            client_ids: vec!["xvz1evFS4wEEPTGEFPHBog".to_owned()],
            secret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw".into(),
            redirect_uri: "https://api.example/auth/v1/callback".to_owned(),
            url: None,
            skip_nonce_check: false,
            email_optional: false,
            development_url: None,
        }
    }

    /// The example in Twitter's documentation ("Creating a signature").
    #[test]
    fn twitter_signature_matches_the_documented_example() {
        let token = OAuth1Token {
            token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb".to_owned(),
            secret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE".to_owned(),
        };
        let call = UnsignedCall {
            method: "POST",
            url: "https://api.twitter.com/1.1/statuses/update.json",
            query: &[
                ("include_entities", "true"),
                ("status", "Hello Ladies + Gentlemen, a signed OAuth request!"),
            ],
            extra: &[],
            token: &token,
        };

        let header = call.sign_call(
            &twitter_config(),
            "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg",
            1_318_622_958,
        );

        assert!(
            header.contains("oauth_signature=\"hCtSmYh%2BiHYCEqBWrE7C7hYmtUk%3D\""),
            "{header}"
        );
    }

    #[test]
    fn stored_request_token_is_read_back_unchanged() {
        let token = OAuth1Token {
            token: "a-b".to_owned(),
            secret: "c/d+e=".to_owned(),
        };

        assert!(OAuth1Token::from_database_text(&token.to_database_text()) == Some(token));
        assert!(OAuth1Token::from_database_text("nonsense").is_none());
    }
}
