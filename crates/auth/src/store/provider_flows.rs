//! `auth.flow_state` of sign-ins with a provider, and `auth.oauth_client_states`: what this server must remember for
//! the provider's token endpoint.
//!
//! Source: Auth contract §2.11, §3.2.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, execute_statement, find_row};
use crate::crypto::pkce::CodeChallenge;

/// The columns of a new flow.
#[derive(Debug)]
pub(crate) struct NewProviderFlow<'a> {
    /// The `state` parameter, which the provider returns to the callback.
    pub(crate) id: Uuid,
    pub(crate) provider: &'a str,
    /// PKCE challenge of the client; `None` for the implicit flow.
    pub(crate) challenge: Option<&'a CodeChallenge>,
    /// Hash of an invitation that this sign-in accepts; empty for none.
    pub(crate) invite_token: &'a str,
    /// The final redirect target, already checked against the project's allow list.
    pub(crate) referrer: &'a str,
    /// Row of `auth.oauth_client_states`; `None` for a provider that needs nothing to be remembered.
    pub(crate) client_state: Option<Uuid>,
    /// The signed-in user who links the identity to their account; `None` for a sign-in.
    pub(crate) linking_target: Option<Uuid>,
    /// The session of that user; it must still exist when the browser returns.
    pub(crate) session: Option<Uuid>,
    pub(crate) email_optional: bool,
}

/// A stored flow, found by the `state` of a callback.
#[derive(Debug, Clone)]
pub(crate) struct ProviderFlow {
    pub(crate) id: Uuid,
    pub(crate) provider: String,
    pub(crate) is_pkce: bool,
    /// The code for the client; empty for the implicit flow.
    pub(crate) auth_code: String,
    /// `Some` once a callback has been processed; a PKCE flow must not be processed twice.
    pub(crate) user_id: Option<Uuid>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) invite_token: String,
    pub(crate) referrer: String,
    pub(crate) client_state: Option<Uuid>,
    pub(crate) linking_target: Option<Uuid>,
    /// The session that links the identity; `None` for a sign-in.
    pub(crate) session: Option<Uuid>,
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
            session: row.try_get("session_id")?,
            email_optional: row.try_get("email_optional")?,
        })
    }
}

/// Inserts a flow. A PKCE flow gets its code now; the client learns it from the callback.
pub(crate) async fn insert(
    db: &impl GenericClient,
    flow: &NewProviderFlow<'_>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    let method = flow.challenge.map(|challenge| challenge.method.as_str());
    let challenge = flow.challenge.map(|challenge| challenge.challenge.as_str());
    execute_statement(
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
            &flow.session,
        ],
    )
    .await
    .map(|_| ())
}

/// Finds a flow without a lock, for the checks before the calls to the provider. Flows by e-mail are not found.
pub(crate) async fn find_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<ProviderFlow>> {
    const SQL: &str = include_str!("../../sql/select_provider_flow.sql");
    find_row(db, SQL, &[&id])
        .await?
        .as_ref()
        .map(ProviderFlow::from_row)
        .transpose()
}

/// Finds a flow and locks its row, so that of two concurrent callbacks with one `state` only one succeeds.
pub(crate) async fn lock_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<ProviderFlow>> {
    const SQL: &str = concat!(include_str!("../../sql/select_provider_flow.sql"), " for update");
    find_row(db, SQL, &[&id])
        .await?
        .as_ref()
        .map(ProviderFlow::from_row)
        .transpose()
}

/// Stores the user and the provider's tokens, which the PKCE client gets in exchange for its code. The tokens are
/// deleted with the row.
pub(crate) async fn set_result(
    db: &impl GenericClient,
    id: Uuid,
    user_id: Uuid,
    (access_token, refresh_token): (&str, Option<&str>),
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.flow_state set user_id = $2, provider_access_token = $3::text, \
                       provider_refresh_token = $4::text, auth_code_issued_at = $5, updated_at = $5 where id = $1";
    execute_statement(db, SQL, &[&id, &user_id, &access_token, &refresh_token, &now])
        .await
        .map(|_| ())
}

/// Stores our PKCE verifier for the provider, or the request token of OAuth 1.0a; returns the id of the row.
pub(crate) async fn insert_client_state(
    db: &impl GenericClient,
    provider: &str,
    verifier: &str,
    now: DateTime<Utc>,
) -> DbResult<Uuid> {
    let id = Uuid::new_v4();
    const SQL: &str = "insert into auth.oauth_client_states (id, provider_type, code_verifier, created_at) \
                       values ($1, $2::text, $3::text, $4)";
    execute_statement(db, SQL, &[&id, &provider, &verifier, &now]).await?;
    Ok(id)
}

/// A row of `auth.oauth_client_states`.
#[derive(Debug)]
pub(crate) struct ClientState {
    pub(crate) provider: String,
    /// Our PKCE verifier, or token and secret of OAuth 1.0a.
    pub(crate) verifier: String,
    pub(crate) created_at: DateTime<Utc>,
}

/// Deletes a stored verifier and returns it, so that it is used once.
pub(crate) async fn take_client_state(db: &impl GenericClient, id: Uuid) -> DbResult<Option<ClientState>> {
    const SQL: &str = "delete from auth.oauth_client_states where id = $1 \
                       returning provider_type, coalesce(code_verifier, '') as code_verifier, created_at";
    let Some(row) = find_row(db, SQL, &[&id]).await? else {
        return Ok(None);
    };
    Ok(Some(ClientState {
        provider: row.try_get("provider_type")?,
        verifier: row.try_get("code_verifier")?,
        created_at: row.try_get("created_at")?,
    }))
}
