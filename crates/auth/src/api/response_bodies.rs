//! Response bodies that several endpoints share.

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::store::custom_providers::CustomProvider;
use crate::store::oauth_clients::OauthClient;
use crate::store::passkeys::Passkey;
use crate::user::format_timestamp;

/// `{}`: success without data, also where data would reveal whether an address is registered.
#[derive(Debug, Serialize)]
pub(crate) struct EmptyBody {}

/// `{message_id?}`: the id that an SMS provider has given to the message, where it gives one.
#[derive(Debug, Serialize)]
pub(crate) struct MessageBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message_id: Option<String>,
}

/// `{redirect_url}`: where the consent page of the OAuth server sends the browser.
#[derive(Debug, Serialize)]
pub(crate) struct RedirectBody<'a> {
    pub(crate) redirect_url: &'a str,
}

/// `{challenge_id, options, expires_at}`: the options of a WebAuthn ceremony for a passkey.
#[derive(Debug, Serialize)]
pub(crate) struct PasskeyOptionsBody<T> {
    pub(crate) challenge_id: Uuid,
    /// What `navigator.credentials` takes as `publicKey`.
    pub(crate) options: T,
    /// When it expires, in Unix seconds.
    pub(crate) expires_at: i64,
}

/// A passkey as its user and administrators see it. Times are RFC 3339.
#[derive(Debug, Serialize)]
pub(crate) struct PasskeyBody<'a> {
    id: Uuid,
    created_at: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    friendly_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<String>,
}

impl<'a> PasskeyBody<'a> {
    pub(crate) fn new(passkey: &'a Passkey) -> Self {
        Self {
            id: passkey.id,
            created_at: format_timestamp(passkey.created_at),
            friendly_name: &passkey.friendly_name,
            last_used_at: passkey.last_used_at.map(format_timestamp),
        }
    }
}

/// A client of the OAuth server on the consent page and in the list of a user's grants.
#[derive(Debug, Serialize)]
pub(crate) struct ConsentClientBody<'a> {
    id: Uuid,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    uri: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    logo_uri: &'a str,
}

impl<'a> ConsentClientBody<'a> {
    pub(crate) fn new(client: &'a OauthClient) -> Self {
        Self {
            id: client.id,
            name: &client.name,
            uri: &client.uri,
            logo_uri: &client.logo_uri,
        }
    }
}

/// A provider as administrators see it: without the client secret, and without members that are not set. Times are
/// RFC 3339.
#[derive(Debug, Serialize)]
pub(crate) struct CustomProviderBody<'a> {
    id: Uuid,
    provider_type: &'a str,
    identifier: &'a str,
    name: &'a str,
    client_id: &'a str,
    acceptable_client_ids: &'a [String],
    scopes: &'a [String],
    pkce_enabled: bool,
    attribute_mapping: &'a Value,
    custom_claims_allowlist: &'a [String],
    authorization_params: &'a Value,
    enabled: bool,
    email_optional: bool,
    skip_nonce_check: bool,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discovery_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authorization_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    userinfo_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jwks_uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discovery_document: Option<&'a Value>,
}

impl<'a> CustomProviderBody<'a> {
    pub(crate) fn new(provider: &'a CustomProvider) -> Self {
        Self {
            id: provider.id,
            provider_type: &provider.provider_type,
            identifier: &provider.identifier,
            name: &provider.name,
            client_id: &provider.client_id,
            acceptable_client_ids: &provider.acceptable_client_ids,
            scopes: &provider.scopes,
            pkce_enabled: provider.pkce_enabled,
            attribute_mapping: &provider.attribute_mapping,
            custom_claims_allowlist: &provider.custom_claims_allowlist,
            authorization_params: &provider.authorization_params,
            enabled: provider.enabled,
            email_optional: provider.email_optional,
            skip_nonce_check: provider.skip_nonce_check,
            created_at: format_timestamp(provider.created_at),
            updated_at: format_timestamp(provider.updated_at),
            issuer: provider.issuer.as_deref(),
            discovery_url: provider.discovery_url.as_deref(),
            authorization_url: provider.authorization_url.as_deref(),
            token_url: provider.token_url.as_deref(),
            userinfo_url: provider.userinfo_url.as_deref(),
            jwks_uri: provider.jwks_uri.as_deref(),
            discovery_document: provider.discovery.as_ref(),
        }
    }
}
