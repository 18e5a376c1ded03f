//! `auth.flow_state` of visits to a provider, and `auth.oauth_client_states`: our own verifiers for providers that want PKCE.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, execute, find};
use crate::rules::pkce::CodeChallenge;

/// A visit about to begin.
#[derive(Debug)]
pub(crate) struct NewProviderFlow<'a> {
    /// The `state` that the provider hands back.
    pub(crate) id: Uuid,
    pub(crate) provider: &'a str,
    pub(crate) challenge: Option<&'a CodeChallenge>,
    pub(crate) invite_token: &'a str,
    /// Where the browser goes in the end: allowed by the project.
    pub(crate) referrer: &'a str,
    pub(crate) client_state: Option<Uuid>,
    pub(crate) linking_target: Option<Uuid>,
    pub(crate) email_optional: bool,
}

/// A visit whose browser came back.
#[derive(Debug, Clone)]
pub(crate) struct ProviderFlow {
    pub(crate) id: Uuid,
    pub(crate) provider: String,
    pub(crate) is_pkce: bool,
    pub(crate) auth_code: String,
    pub(crate) user_id: Option<Uuid>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) invite_token: String,
    pub(crate) referrer: String,
    pub(crate) client_state: Option<Uuid>,
    pub(crate) linking_target: Option<Uuid>,
    pub(crate) email_optional: bool,
}

impl ProviderFlow {
    fn from_row(row: &Row) -> DbResult<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            provider: row.try_get("provider_type")?,
            is_pkce: row.try_get("is_pkce")?,
            auth_code: row.try_get("auth_code")?,
            user_id: row.try_get("user_id")?,
            created_at: row.try_get("created_at")?,
            invite_token: row.try_get("invite_token")?,
            referrer: row.try_get("referrer")?,
            client_state: row.try_get("oauth_client_state_id")?,
            linking_target: row.try_get("linking_target_id")?,
            email_optional: row.try_get("email_optional")?,
        })
    }
}

/// Remembers the visit.
pub(crate) async fn insert(
    db: &impl GenericClient,
    flow: &NewProviderFlow<'_>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    let method = flow.challenge.map(|challenge| challenge.method.as_str());
    let challenge = flow.challenge.map(|challenge| challenge.challenge.as_str());
    execute(
        db,
        include_str!("../../sql/insert_provider_flow.sql"),
        &[
            &flow.id,
            &method,
            &challenge,
            &flow.provider,
            &flow.invite_token,
            &flow.referrer,
            &flow.client_state,
            &flow.linking_target,
            &flow.email_optional,
            &now,
        ],
    )
    .await
    .map(|_| ())
}

pub(crate) async fn find_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<ProviderFlow>> {
    const SQL: &str = include_str!("../../sql/select_provider_flow.sql");
    find(db, SQL, &[&id])
        .await?
        .as_ref()
        .map(ProviderFlow::from_row)
        .transpose()
}

/// The same, locked: a state is worth one visit.
pub(crate) async fn lock_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<ProviderFlow>> {
    const SQL: &str = concat!(include_str!("../../sql/select_provider_flow.sql"), " for update");
    find(db, SQL, &[&id])
        .await?
        .as_ref()
        .map(ProviderFlow::from_row)
        .transpose()
}

/// Ends the visit of a PKCE client: its code is worth a session, and the provider's tokens, from now on.
pub(crate) async fn finish(
    db: &impl GenericClient,
    id: Uuid,
    user_id: Uuid,
    (access_token, refresh_token): (&str, Option<&str>),
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.flow_state set user_id = $2, provider_access_token = $3::text, \
                       provider_refresh_token = $4::text, auth_code_issued_at = $5, updated_at = $5 where id = $1";
    execute(db, SQL, &[&id, &user_id, &access_token, &refresh_token, &now])
        .await
        .map(|_| ())
}

/// Keeps our verifier for the provider, or the request token of OAuth 1.0a.
pub(crate) async fn insert_client_state(
    db: &impl GenericClient,
    provider: &str,
    verifier: &str,
    now: DateTime<Utc>,
) -> DbResult<Uuid> {
    let id = Uuid::new_v4();
    const SQL: &str = "insert into auth.oauth_client_states (id, provider_type, code_verifier, created_at) \
                       values ($1, $2::text, $3::text, $4)";
    execute(db, SQL, &[&id, &provider, &verifier, &now]).await?;
    Ok(id)
}

/// A verifier that we kept.
#[derive(Debug)]
pub(crate) struct ClientState {
    pub(crate) provider: String,
    pub(crate) verifier: String,
    pub(crate) created_at: DateTime<Utc>,
}

/// Takes our verifier out: it is used once.
pub(crate) async fn take_client_state(db: &impl GenericClient, id: Uuid) -> DbResult<Option<ClientState>> {
    const SQL: &str = "delete from auth.oauth_client_states where id = $1 \
                       returning provider_type, coalesce(code_verifier, '') as code_verifier, created_at";
    let Some(row) = find(db, SQL, &[&id]).await? else {
        return Ok(None);
    };
    Ok(Some(ClientState {
        provider: row.try_get("provider_type")?,
        verifier: row.try_get("code_verifier")?,
        created_at: row.try_get("created_at")?,
    }))
}
