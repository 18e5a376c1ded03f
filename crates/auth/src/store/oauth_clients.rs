//! `auth.oauth_clients`: programs of other people that sign users in with us.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, execute, find, list};
use crate::user::timestamp;

/// A program as stored.
#[derive(Debug, Clone)]
pub(crate) struct OauthClient {
    pub(crate) id: Uuid,
    pub(crate) secret_hash: String,
    pub(crate) registration_type: String,
    pub(crate) redirect_uris: Vec<String>,
    pub(crate) grant_types: Vec<String>,
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) logo_uri: String,
    pub(crate) client_type: String,
    pub(crate) auth_method: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

impl OauthClient {
    fn from_row(row: &Row) -> DbResult<Self> {
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

    pub(crate) fn is_public(&self) -> bool {
        self.client_type == "public"
    }

    /// As administrators and the program itself see it; the secret only where it was just made.
    pub(crate) fn body(&self, secret: Option<&str>) -> Value {
        let mut body = json!({
            "client_id": self.id,
            "client_type": self.client_type,
            "redirect_uris": self.redirect_uris,
            "token_endpoint_auth_method": self.auth_method,
            "grant_types": self.grant_types,
            "response_types": ["code"],
            "registration_type": self.registration_type,
            "created_at": timestamp(self.created_at),
            "updated_at": timestamp(self.updated_at),
        });
        let texts = [
            ("client_name", &self.name),
            ("client_uri", &self.uri),
            ("logo_uri", &self.logo_uri),
        ];
        for (name, text) in texts {
            if !text.is_empty() {
                body[name] = json!(text);
            }
        }
        if let Some(secret) = secret {
            body["client_secret"] = json!(secret);
        }
        body
    }

    /// As users see it who are asked for their consent.
    pub(crate) fn details(&self) -> Value {
        let mut body = json!({ "id": self.id });
        for (name, text) in [
            ("name", &self.name),
            ("uri", &self.uri),
            ("logo_uri", &self.logo_uri),
        ] {
            if !text.is_empty() {
                body[name] = json!(text);
            }
        }
        body
    }
}

/// The living program of this id.
pub(crate) async fn find_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<OauthClient>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_oauth_client.sql"),
        "where id = $1 and deleted_at is null"
    );
    find(db, SQL, &[&id])
        .await?
        .as_ref()
        .map(OauthClient::from_row)
        .transpose()
}

pub(crate) async fn list_all(db: &impl GenericClient) -> DbResult<Vec<OauthClient>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_oauth_client.sql"),
        "where deleted_at is null order by created_at desc, id"
    );
    list(db, SQL, &[])
        .await?
        .iter()
        .map(OauthClient::from_row)
        .collect()
}

/// Inserts the program, or replaces everything of the one with its id.
pub(crate) async fn put(db: &impl GenericClient, client: &OauthClient) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/put_oauth_client.sql");
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
    execute(db, SQL, params).await.map(|_| ())
}

/// Ends the program: its sessions end with it, its row stays for the record.
pub(crate) async fn delete(db: &impl GenericClient, id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str = "update auth.oauth_clients set deleted_at = $2, updated_at = $2 where id = $1";
    execute(db, SQL, &[&id, &now]).await?;
    execute(db, "delete from auth.sessions where oauth_client_id = $1", &[&id])
        .await
        .map(|_| ())
}
