//! `auth.custom_oauth_providers`: providers that administrators add while the server runs.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, execute, find, list};
use crate::providers::Issuer;
use crate::user::timestamp;

/// A provider as stored.
#[derive(Debug, Clone)]
pub(crate) struct CustomProvider {
    pub(crate) id: Uuid,
    /// `oidc` or `oauth2`.
    pub(crate) provider_type: String,
    /// `custom:…`
    pub(crate) identifier: String,
    pub(crate) name: String,
    pub(crate) client_id: String,
    pub(crate) client_secret: String,
    pub(crate) acceptable_client_ids: Vec<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) pkce_enabled: bool,
    pub(crate) attribute_mapping: Value,
    pub(crate) custom_claims_allowlist: Vec<String>,
    pub(crate) authorization_params: Value,
    pub(crate) enabled: bool,
    pub(crate) email_optional: bool,
    pub(crate) issuer: Option<String>,
    pub(crate) discovery_url: Option<String>,
    pub(crate) skip_nonce_check: bool,
    pub(crate) discovery: Option<Value>,
    pub(crate) authorization_url: Option<String>,
    pub(crate) token_url: Option<String>,
    pub(crate) userinfo_url: Option<String>,
    pub(crate) jwks_uri: Option<String>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

impl CustomProvider {
    fn from_row(row: &Row) -> DbResult<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            provider_type: row.try_get("provider_type")?,
            identifier: row.try_get("identifier")?,
            name: row.try_get("name")?,
            client_id: row.try_get("client_id")?,
            client_secret: row.try_get("client_secret")?,
            acceptable_client_ids: row.try_get("acceptable_client_ids")?,
            scopes: row.try_get("scopes")?,
            pkce_enabled: row.try_get("pkce_enabled")?,
            attribute_mapping: row.try_get("attribute_mapping")?,
            custom_claims_allowlist: row.try_get("custom_claims_allowlist")?,
            authorization_params: row.try_get("authorization_params")?,
            enabled: row.try_get("enabled")?,
            email_optional: row.try_get("email_optional")?,
            issuer: row.try_get("issuer")?,
            discovery_url: row.try_get("discovery_url")?,
            skip_nonce_check: row.try_get("skip_nonce_check")?,
            discovery: row.try_get("cached_discovery")?,
            authorization_url: row.try_get("authorization_url")?,
            token_url: row.try_get("token_url")?,
            userinfo_url: row.try_get("userinfo_url")?,
            jwks_uri: row.try_get("jwks_uri")?,
            created_at: row.try_get("created_at")?,
            updated_at: row.try_get("updated_at")?,
        })
    }

    pub(crate) fn is_oidc(&self) -> bool {
        self.provider_type == "oidc"
    }

    /// The issuer of an OpenID Connect provider.
    pub(crate) fn issuer(&self) -> Option<Issuer> {
        Some(Issuer {
            name: self.issuer.clone()?,
            discovery_url: self.discovery_url.clone().filter(|url| !url.is_empty()),
        })
    }

    /// As administrators see it: without the secret, and without what the other kind has.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({
            "id": self.id,
            "provider_type": self.provider_type,
            "identifier": self.identifier,
            "name": self.name,
            "client_id": self.client_id,
            "acceptable_client_ids": self.acceptable_client_ids,
            "scopes": self.scopes,
            "pkce_enabled": self.pkce_enabled,
            "attribute_mapping": self.attribute_mapping,
            "custom_claims_allowlist": self.custom_claims_allowlist,
            "authorization_params": self.authorization_params,
            "enabled": self.enabled,
            "email_optional": self.email_optional,
            "skip_nonce_check": self.skip_nonce_check,
            "created_at": timestamp(self.created_at),
            "updated_at": timestamp(self.updated_at),
        });
        let optional = [
            ("issuer", &self.issuer),
            ("discovery_url", &self.discovery_url),
            ("authorization_url", &self.authorization_url),
            ("token_url", &self.token_url),
            ("userinfo_url", &self.userinfo_url),
            ("jwks_uri", &self.jwks_uri),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                body[name] = json!(value);
            }
        }
        if let Some(discovery) = &self.discovery {
            body["discovery_document"] = discovery.clone();
        }
        body
    }
}

pub(crate) async fn find_by_identifier(
    db: &impl GenericClient,
    identifier: &str,
) -> DbResult<Option<CustomProvider>> {
    const SQL: &str = "select * from auth.custom_oauth_providers where identifier = $1::text";
    find(db, SQL, &[&identifier])
        .await?
        .as_ref()
        .map(CustomProvider::from_row)
        .transpose()
}

/// All providers, or those of one type, newest first.
pub(crate) async fn list_all(
    db: &impl GenericClient,
    provider_type: Option<&str>,
) -> DbResult<Vec<CustomProvider>> {
    const SQL: &str = "select * from auth.custom_oauth_providers where $1::text is null or provider_type = $1::text \
                       order by created_at desc, id";
    list(db, SQL, &[&provider_type])
        .await?
        .iter()
        .map(CustomProvider::from_row)
        .collect()
}

/// Inserts the provider, or replaces everything of the one with its id.
pub(crate) async fn put(db: &impl GenericClient, provider: &CustomProvider) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/put_custom_provider.sql");
    let new = provider;
    let params: super::Params<'_> = &[
        &new.id,
        &new.provider_type,
        &new.identifier,
        &new.name,
        &new.client_id,
        &new.client_secret,
        &new.acceptable_client_ids,
        &new.scopes,
        &new.pkce_enabled,
        &new.attribute_mapping,
        &new.custom_claims_allowlist,
        &new.authorization_params,
        &new.enabled,
        &new.email_optional,
        &new.issuer,
        &new.discovery_url,
        &new.skip_nonce_check,
        &new.discovery,
        &new.authorization_url,
        &new.token_url,
        &new.userinfo_url,
        &new.jwks_uri,
        &new.created_at,
        &new.updated_at,
    ];
    execute(db, SQL, params).await.map(|_| ())
}

/// Removes the provider; whether there was one. Identities stay: they belong to their users.
pub(crate) async fn delete(db: &impl GenericClient, identifier: &str) -> DbResult<bool> {
    const SQL: &str = "delete from auth.custom_oauth_providers where identifier = $1::text";
    Ok(execute(db, SQL, &[&identifier]).await? > 0)
}
