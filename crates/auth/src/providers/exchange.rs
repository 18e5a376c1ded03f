//! The provider's code against the provider's tokens.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::AUTHORIZATION;
use serde_json::{Map, Value, json};

use super::{Provider, ProviderError};
use crate::http_client::{Answer, Call, HttpClient};

/// What a provider hands out for a code. Never logged.
pub(crate) struct ProviderTokens {
    pub(crate) access_token: String,
    pub(crate) refresh_token: Option<String>,
    pub(crate) id_token: Option<String>,
    /// The whole answer: one provider puts the profile there.
    pub(super) answer: Value,
}

/// How we show our secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretIn {
    Header,
    Form,
}

/// Exchanges the code.
pub(super) async fn exchange(
    http: &HttpClient,
    provider: &Provider,
    (token_url, takes_basic): (&str, bool),
    code: &str,
    verifier: Option<&str>,
) -> Result<ProviderTokens, ProviderError> {
    let has_secret = !provider.secret().is_empty();
    if takes_basic && has_secret {
        let answer = send(http, provider, token_url, code, verifier, SecretIn::Header).await?;
        // Some providers know the form only, and say so in many ways. A code that was used up fails again.
        if !matches!(answer.status, 400 | 401 | 403) {
            return read(&answer);
        }
    }
    read(&send(http, provider, token_url, code, verifier, SecretIn::Form).await?)
}

async fn send(
    http: &HttpClient,
    provider: &Provider,
    token_url: &str,
    code: &str,
    verifier: Option<&str>,
    secret_in: SecretIn,
) -> Result<Answer, ProviderError> {
    let mut form = vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", provider.redirect_uri()),
    ];
    if let Some(verifier) = verifier {
        form.push(("code_verifier", verifier));
    }
    if secret_in == SecretIn::Form {
        form.push(("client_id", provider.client_id()));
        if !provider.secret().is_empty() {
            form.push(("client_secret", provider.secret()));
        }
    }
    let mut call = Call::post_form(token_url, &form);
    if secret_in == SecretIn::Header {
        let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let pair = format!("{}:{}", encode(provider.client_id()), encode(provider.secret()));
        call = call.header(AUTHORIZATION, &format!("Basic {}", STANDARD.encode(pair)));
    }
    Ok(http.send(call).await?)
}

/// Reads the answer: JSON, or a form as in the protocol's early days.
fn read(answer: &Answer) -> Result<ProviderTokens, ProviderError> {
    if !(200..300).contains(&answer.status) {
        return Err(ProviderError::Exchange {
            host: answer.host.clone(),
            status: answer.status,
        });
    }
    let tokens = serde_json::from_slice(&answer.body).unwrap_or_else(|_| form(&answer.body));
    let text = |name: &str| {
        tokens[name]
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let access_token = text("access_token").ok_or_else(|| ProviderError::Exchange {
        host: answer.host.clone(),
        status: answer.status,
    })?;
    Ok(ProviderTokens {
        access_token,
        refresh_token: text("refresh_token"),
        id_token: text("id_token"),
        answer: tokens,
    })
}

fn form(body: &[u8]) -> Value {
    let pairs = url::form_urlencoded::parse(body);
    Value::Object(
        pairs
            .map(|(name, value)| (name.into_owned(), json!(value)))
            .collect::<Map<_, _>>(),
    )
}
