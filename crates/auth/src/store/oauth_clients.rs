//! `auth.oauth_clients`: applications that use this server as their OAuth provider. Source: Auth contract §2.16.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, execute_statement, find_row, list_rows};

/// A row of `auth.oauth_clients`.
#[derive(Debug, Clone)]
pub(crate) struct OauthClient {
    /// The `client_id` of the protocol.
    pub(crate) id: Uuid,
    /// Empty for a public client.
    pub(crate) secret_hash: String,
    /// `dynamic` (RFC 7591) or `manual`.
    pub(crate) registration_type: String,
    /// A request must name one of them exactly.
    pub(crate) redirect_uris: Vec<String>,
    pub(crate) grant_types: Vec<String>,
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) logo_uri: String,
    /// `public` or `confidential`.
    pub(crate) client_type: String,
    /// `token_endpoint_auth_method`: `none`, `client_secret_basic` or `client_secret_post`.
    pub(crate) auth_method: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

impl OauthClient {
    fn from_row(row: &Row) -> DbResult<Self> {
        // Compat: GoTrue stores lists as text, separated by commas.
        let items = |name: &str| -> DbResult<Vec<String>> {
            let text: String = row.try_get(name)?;
            Ok(text
                .split(',')
                .filter(|item| !item.is_empty())
                .map(str::to_owned)
                .collect())
        };
        Ok(Self {
            id: row.try_get("id")?,
            secret_hash: row.try_get("client_secret_hash")?,
            registration_type: row.try_get("registration_type")?,
            redirect_uris: items("redirect_uris")?,
            grant_types: items("grant_types")?,
            name: row.try_get("client_name")?,
            uri: row.try_get("client_uri")?,
            logo_uri: row.try_get("logo_uri")?,
            client_type: row.try_get("client_type")?,
            auth_method: row.try_get("token_endpoint_auth_method")?,
            created_at: row.try_get("created_at")?,
            updated_at: row.try_get("updated_at")?,
        })
    }

    /// Whether the client has no secret, as apps in browsers and on phones.
    pub(crate) fn is_public(&self) -> bool {
        self.client_type == "public"
    }
}

/// Finds a client that has not been deleted.
pub(crate) async fn find_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<OauthClient>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_oauth_client.sql"),
        "where id = $1 and deleted_at is null"
    );
    find_row(db, SQL, &[&id])
        .await?
        .as_ref()
        .map(OauthClient::from_row)
        .transpose()
}

/// Lists the clients that have not been deleted, newest first.
pub(crate) async fn list_all(db: &impl GenericClient) -> DbResult<Vec<OauthClient>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_oauth_client.sql"),
        "where deleted_at is null order by created_at desc, id"
    );
    list_rows(db, SQL, &[])
        .await?
        .iter()
        .map(OauthClient::from_row)
        .collect()
}

/// Inserts the client, or updates the one with its id. `registration_type` and `client_type` never change.
pub(crate) async fn upsert(db: &impl GenericClient, client: &OauthClient) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/upsert_oauth_client.sql");
    let params: super::Params<'_> = &[
        &client.id,
        &client.secret_hash,
        &client.registration_type,
        &client.redirect_uris.join(","),
        &client.grant_types.join(","),
        &client.name,
        &client.uri,
        &client.logo_uri,
        &client.client_type,
        &client.auth_method,
        &client.created_at,
        &client.updated_at,
    ];
    execute_statement(db, SQL, params).await.map(|_| ())
}

/// Marks the client as deleted and deletes its sessions. The row stays, because consents and authorizations refer to
/// it.
pub(crate) async fn delete(db: &impl GenericClient, id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str = "update auth.oauth_clients set deleted_at = $2, updated_at = $2 where id = $1";
    execute_statement(db, SQL, &[&id, &now]).await?;
    execute_statement(db, "delete from auth.sessions where oauth_client_id = $1", &[&id])
        .await
        .map(|_| ())
}
