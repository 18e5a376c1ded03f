//! OAuth 1.0a (RFC 5849), which of all providers only Twitter still speaks: a request token before the visit, an access token
//! after it, and every call signed with HMAC-SHA1. Source: Auth contract §2.11, §8.1.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use hyper::header::AUTHORIZATION;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use sha1::Sha1;
use uuid::Uuid;

use super::{Profile, Provider, ProviderError, ProviderTokens};
use crate::http_client::{Answer, Call, HttpClient};

/// Everything but the characters that RFC 3986 leaves as they are.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A token and the secret that belongs to it.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct SignedToken {
    token: String,
    secret: String,
}

impl SignedToken {
    /// Both, as they are kept during the visit.
    pub(crate) fn to_kept(&self) -> String {
        format!("{} {}", self.token, self.secret)
    }

    fn from_kept(text: &str) -> Option<Self> {
        let (token, secret) = text.split_once(' ')?;
        Some(Self {
            token: token.to_owned(),
            secret: secret.to_owned(),
        })
    }

    fn of(answer: &Answer) -> Result<Self, ProviderError> {
        let refused = || ProviderError::Exchange {
            host: answer.host.clone(),
            status: answer.status,
        };
        if !(200..300).contains(&answer.status) {
            return Err(refused());
        }
        let field = |name: &str| {
            let mut pairs = url::form_urlencoded::parse(&answer.body);
            let found = pairs.find(|(known, _)| known == name);
            found.map_or_else(String::new, |(_, value)| value.into_owned())
        };
        let token = Self {
            token: field("oauth_token"),
            secret: field("oauth_token_secret"),
        };
        // A space would tear what is kept.
        if token.token.is_empty() || token.token.contains(' ') {
            return Err(refused());
        }
        Ok(token)
    }
}

/// One call, before its signature.
struct Signing<'a> {
    method: &'a str,
    url: &'a str,
    /// Parameters of the query; they are signed, too.
    query: &'a [(&'a str, &'a str)],
    /// Parameters of the protocol beside the usual ones.
    extra: &'a [(&'a str, &'a str)],
    token: &'a SignedToken,
}

impl Signing<'_> {
    /// The `Authorization` header.
    fn header(&self, provider: &Provider, nonce: &str, unix_seconds: i64) -> String {
        let timestamp = unix_seconds.to_string();
        let mut own = vec![
            ("oauth_consumer_key", provider.client_id()),
            ("oauth_nonce", nonce),
            ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", &timestamp),
            ("oauth_version", "1.0"),
        ];
        own.extend(self.extra);
        if !self.token.token.is_empty() {
            own.push(("oauth_token", &self.token.token));
        }
        let mut signed: Vec<(String, String)> = own
            .iter()
            .chain(self.query)
            .map(|(name, value)| (encode(name), encode(value)))
            .collect();
        signed.sort();
        let pairs: Vec<String> = signed
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let base = format!(
            "{}&{}&{}",
            self.method,
            encode(self.url),
            encode(&pairs.join("&"))
        );
        let key = format!("{}&{}", encode(provider.secret()), encode(&self.token.secret));
        let mut mac = Hmac::<Sha1>::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
        mac.update(base.as_bytes());
        let signature = STANDARD.encode(mac.finalize().into_bytes());
        own.push(("oauth_signature", &signature));
        let parts: Vec<String> = own
            .iter()
            .map(|(name, value)| format!("{}=\"{}\"", encode(name), encode(value)))
            .collect();
        format!("OAuth {}", parts.join(", "))
    }

    async fn send(&self, http: &HttpClient, provider: &Provider) -> Result<Answer, ProviderError> {
        let nonce = Uuid::new_v4().simple().to_string();
        let header = self.header(provider, &nonce, chrono::Utc::now().timestamp());
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

/// Announces a visit; `state` comes back with the browser.
pub(super) async fn request_token(
    http: &HttpClient,
    provider: &Provider,
    api: &str,
    state: &str,
) -> Result<SignedToken, ProviderError> {
    let callback = format!("{}?state={state}", provider.redirect_uri());
    let signing = Signing {
        method: "POST",
        url: &format!("{api}/oauth/request_token"),
        query: &[],
        extra: &[("oauth_callback", &callback)],
        token: &SignedToken::default(),
    };
    SignedToken::of(&signing.send(http, provider).await?)
}

/// Where the browser goes.
pub(super) fn authenticate_url(api: &str, token: &SignedToken) -> String {
    format!("{api}/oauth/authenticate?oauth_token={}", encode(&token.token))
}

/// The request token of the visit, with the verifier that the browser brought back, against an access token.
pub(super) async fn redeem(
    http: &HttpClient,
    provider: &Provider,
    api: &str,
    verifier: &str,
    kept: Option<&str>,
) -> Result<ProviderTokens, ProviderError> {
    let token = kept
        .and_then(SignedToken::from_kept)
        .ok_or(ProviderError::MissingEndpoint("request token"))?;
    let signing = Signing {
        method: "POST",
        url: &format!("{api}/oauth/access_token"),
        query: &[],
        extra: &[("oauth_verifier", verifier)],
        token: &token,
    };
    let access = SignedToken::of(&signing.send(http, provider).await?)?;
    Ok(ProviderTokens {
        access_token: access.token,
        refresh_token: None,
        id_token: None,
        answer: json!({ "oauth_token_secret": access.secret }),
    })
}

/// Whom the access token describes.
pub(super) async fn profile(
    http: &HttpClient,
    provider: &Provider,
    api: &str,
    tokens: &ProviderTokens,
) -> Result<Profile, ProviderError> {
    let url = format!("{api}/1.1/account/verify_credentials.json");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let signing = Signing {
        method: "GET",
        url: &url,
        query: &[
            ("include_entities", "false"),
            ("skip_status", "true"),
            ("include_email", "true"),
        ],
        extra: &[],
        token: &SignedToken {
            token: tokens.access_token.clone(),
            secret: text(&tokens.answer["oauth_token_secret"]),
        },
    };
    let user = signing.send(http, provider).await?.json()?;
    let subject = text(&user["id_str"]);
    if subject.is_empty() {
        return Err(ProviderError::NoSubject);
    }
    let name = text(&user["screen_name"]);
    Ok(Profile::new(&url, subject)
        .named(&text(&user["name"]))
        .with("preferred_username", &name)
        .with("user_name", &name)
        .pictured(&text(&user["profile_image_url_https"]))
        // Twitter tells proven addresses only.
        .mailed(&text(&user["email"]), true))
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProviderConfig;

    fn provider() -> Provider {
        let config = ProviderConfig {
            name: "twitter".to_owned(),
            client_ids: vec!["xvz1evFS4wEEPTGEFPHBog".to_owned()],
            secret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw".into(),
            redirect_uri: "https://api.example/auth/v1/callback".to_owned(),
            url: None,
            skip_nonce_check: false,
            email_optional: false,
        };
        Provider::of(&config).expect("twitter is known")
    }

    /// The example in Twitter's own documentation ("Creating a signature").
    #[test]
    fn a_call_is_signed_as_twitter_documents_it() {
        let token = SignedToken {
            token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb".to_owned(),
            secret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE".to_owned(),
        };
        let signing = Signing {
            method: "POST",
            url: "https://api.twitter.com/1.1/statuses/update.json",
            query: &[
                ("include_entities", "true"),
                ("status", "Hello Ladies + Gentlemen, a signed OAuth request!"),
            ],
            extra: &[],
            token: &token,
        };

        let header = signing.header(
            &provider(),
            "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg",
            1_318_622_958,
        );

        assert!(
            header.contains("oauth_signature=\"hCtSmYh%2BiHYCEqBWrE7C7hYmtUk%3D\""),
            "{header}"
        );
    }

    #[test]
    fn what_is_kept_comes_back() {
        let token = SignedToken {
            token: "a-b".to_owned(),
            secret: "c/d+e=".to_owned(),
        };

        assert!(SignedToken::from_kept(&token.to_kept()) == Some(token));
        assert!(SignedToken::from_kept("nonsense").is_none());
    }
}
