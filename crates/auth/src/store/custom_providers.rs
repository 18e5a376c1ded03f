//! `auth.custom_oauth_providers`: providers that administrators add while the server runs. Source: Auth contract §2.15,
//! §8.1.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, execute_statement, find_row, list_rows};

/// A row of the table. Columns that the provider's type does not use are `None`.
#[derive(Debug, Clone)]
pub(crate) struct CustomProvider {
    pub(crate) id: Uuid,
    /// `oidc` or `oauth2`.
    pub(crate) provider_type: String,
    /// `custom:…`, the name in `provider=` of `/authorize` and in the provider's identities.
    pub(crate) identifier: String,
    /// Shown to administrators.
    pub(crate) name: String,
    pub(crate) client_id: String,
    /// In plain text, because it is sent to the provider; no response of this server contains it.
    pub(crate) client_secret: String,
    /// Client ids, beside `client_id`, that ID tokens may have as their audience.
    pub(crate) acceptable_client_ids: Vec<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) pkce_enabled: bool,
    /// An object; [`crate::providers`] applies it to the provider's claims.
    pub(crate) attribute_mapping: Value,
    pub(crate) custom_claims_allowlist: Vec<String>,
    /// An object of strings: further parameters of the authorization request.
    pub(crate) authorization_params: Value,
    pub(crate) enabled: bool,
    /// Whether users may sign in without an address.
    pub(crate) email_optional: bool,
    pub(crate) issuer: Option<String>,
    /// `None` when the discovery document has its standard URL below the issuer.
    pub(crate) discovery_url: Option<String>,
    pub(crate) skip_nonce_check: bool,
    /// Members of the discovery document as it was when the provider was saved; shown to administrators and not used
    /// for sign-ins.
    pub(crate) discovery: Option<Value>,
    pub(crate) authorization_url: Option<String>,
    pub(crate) token_url: Option<String>,
    pub(crate) userinfo_url: Option<String>,
    /// Shown to administrators; providers of type `oauth2` have no ID tokens to verify.
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
}

/// Finds a provider, enabled or not.
pub(crate) async fn find_by_identifier(
    db: &impl GenericClient,
    identifier: &str,
) -> DbResult<Option<CustomProvider>> {
    const SQL: &str = "select * from auth.custom_oauth_providers where identifier = $1::text";
    find_row(db, SQL, &[&identifier])
        .await?
        .as_ref()
        .map(CustomProvider::from_row)
        .transpose()
}

/// Lists all providers, or those of one type, newest first.
pub(crate) async fn list_all(
    db: &impl GenericClient,
    provider_type: Option<&str>,
) -> DbResult<Vec<CustomProvider>> {
    const SQL: &str = "select * from auth.custom_oauth_providers where $1::text is null or provider_type = $1::text \
                       order by created_at desc, id";
    list_rows(db, SQL, &[&provider_type])
        .await?
        .iter()
        .map(CustomProvider::from_row)
        .collect()
}

/// Inserts the provider, or updates the one with its id. See `upsert_custom_provider.sql` for the columns.
pub(crate) async fn upsert(db: &impl GenericClient, provider: &CustomProvider) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/upsert_custom_provider.sql");
    // `identifier` and `provider_type` are set by the INSERT only: they cannot be changed later.
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
    execute_statement(db, SQL, params).await.map(|_| ())
}

/// Deletes the provider; returns whether there was one. Identities of its users stay, because they belong to the users.
pub(crate) async fn delete(db: &impl GenericClient, identifier: &str) -> DbResult<bool> {
    const SQL: &str = "delete from auth.custom_oauth_providers where identifier = $1::text";
    Ok(execute_statement(db, SQL, &[&identifier]).await? > 0)
}
