//! Exchanges the authorization code of the callback for the provider's tokens, at its token endpoint (RFC 6749 §4.1.3).
//!
//! Used for OAuth 2.0 and OpenID Connect; [`super::oauth1`] has its own exchange.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::AUTHORIZATION;
use serde_json::{Map, Value, json};

use super::json_fields::Fields;
use crate::config::ProviderConfig;
use crate::error::ProviderError;
use crate::http_client::{Call, CallResponse, HttpClient};

/// The tokens that a provider issues for a code. The type has no `Debug`, so that they cannot be logged by accident.
pub(crate) struct ProviderTokens {
    /// Used to fetch the profile, and returned to the client as `provider_token`.
    pub(crate) access_token: String,
    /// Returned to the client as `provider_refresh_token`; this server does not use it.
    pub(crate) refresh_token: Option<String>,
    /// The ID token, not verified yet.
    pub(super) id_token: Option<String>,
    /// The token response as JSON. WorkOS puts the profile there, OAuth 1.0a the secret of the token.
    pub(super) response: Value,
}

/// How the client authenticates at the token endpoint (RFC 6749 §2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretPlace {
    /// `client_secret_basic`: in the Authorization header.
    Header,
    /// `client_secret_post`: in the form.
    Form,
}

/// The inputs of one exchange, apart from the client's credentials.
pub(super) struct CodeExchange<'a> {
    pub(super) token_url: &'a str,
    /// Whether the Authorization header is tried before the form.
    pub(super) accepts_basic: bool,
    pub(super) code: &'a str,
    /// Our PKCE verifier; `None` when the authorization request had no challenge.
    pub(super) verifier: Option<&'a str>,
}

impl CodeExchange<'_> {
    /// Exchanges the code.
    ///
    /// # Errors
    /// [`ProviderError::Exchange`] when the provider refuses the code or returns no access token;
    /// [`ProviderError::Call`] when it cannot be reached.
    pub(super) async fn exchange_code(
        &self,
        http: &HttpClient,
        client: &ProviderConfig,
    ) -> Result<ProviderTokens, ProviderError> {
        if self.accepts_basic && !client.expose_secret().is_empty() {
            let response = self.send_form(http, client, SecretPlace::Header).await?;
            // Some providers read the secret only from the form, and they report the missing secret with different
            // statuses; so each of these leads to a second attempt. If the code itself is invalid, the second attempt
            // fails as well.
            if !matches!(response.status, 400 | 401 | 403) {
                return read_tokens(&response);
            }
        }
        read_tokens(&self.send_form(http, client, SecretPlace::Form).await?)
    }

    async fn send_form(
        &self,
        http: &HttpClient,
        client: &ProviderConfig,
        secret_place: SecretPlace,
    ) -> Result<CallResponse, ProviderError> {
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", self.code),
            ("redirect_uri", client.redirect_uri.as_str()),
        ];
        if let Some(verifier) = self.verifier {
            form.push(("code_verifier", verifier));
        }
        if secret_place == SecretPlace::Form {
            form.push(("client_id", client.client_id()));
            // A public client has no secret; it identifies itself by its id alone.
            if !client.expose_secret().is_empty() {
                form.push(("client_secret", client.expose_secret()));
            }
        }
        let mut call = Call::post_form(self.token_url, &form);
        if secret_place == SecretPlace::Header {
            // RFC 6749 §2.3.1: id and secret are form-encoded before they are joined, so that a colon in the id is not
            // read as the separator.
            let encode =
                |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let pair = format!(
                "{}:{}",
                encode(client.client_id()),
                encode(client.expose_secret())
            );
            call = call.header(AUTHORIZATION, &format!("Basic {}", STANDARD.encode(pair)));
        }
        Ok(http.send(call).await?)
    }
}

/// Reads the token response. A success without an access token counts as a refusal.
///
/// Compat: besides JSON, a form-encoded body is read, which some providers send as early drafts of OAuth 2.0 did.
fn read_tokens(response: &CallResponse) -> Result<ProviderTokens, ProviderError> {
    let refused = || ProviderError::Exchange {
        host: response.host.clone(),
        status: response.status,
    };
    if !(200..300).contains(&response.status) {
        return Err(refused());
    }
    let tokens = serde_json::from_slice(&response.body).unwrap_or_else(|_| form_to_json(&response.body));
    let text = |name: &str| {
        let text = Fields::from(&tokens).text(name);
        (!text.is_empty()).then(|| text.to_owned())
    };
    Ok(ProviderTokens {
        access_token: text("access_token").ok_or_else(refused)?,
        refresh_token: text("refresh_token"),
        id_token: text("id_token"),
        response: tokens,
    })
}

/// Reads a form-encoded body as an object of strings.
fn form_to_json(body: &[u8]) -> Value {
    let pairs = url::form_urlencoded::parse(body);
    Value::Object(
        pairs
            .map(|(name, value)| (name.into_owned(), json!(value)))
            .collect::<Map<_, _>>(),
    )
}
