//! `auth.flow_state` of PKCE flows by e-mail: a row exists from the request until the code is exchanged. Rows of
//! sign-ins with a provider are created in [`super::provider_flows`] and exchanged here.
//!
//! Source: Auth contract §3.2.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, find_row, run_statement};
use crate::crypto::pkce::{ChallengeMethod, CodeChallenge};

/// A flow, found by its code.
#[derive(Debug, Clone)]
pub(crate) struct FlowState {
    pub(crate) id: Uuid,
    /// `None` until the provider's callback has determined the user.
    pub(crate) user_id: Option<Uuid>,
    /// `None` for the implicit flow, which has no code to exchange.
    pub(crate) challenge: Option<CodeChallenge>,
    /// `authentication_method`, for example `email/signup` or `oauth`; it becomes the AMR method of the session.
    pub(crate) method: String,
    pub(crate) provider_type: String,
    /// When the code's lifetime began: when the link was opened for a flow by e-mail, at `/authorize` for a sign-in
    /// with a provider.
    pub(crate) issued_at: Option<DateTime<Utc>>,
    /// The provider's tokens, which are stored only until this exchange.
    pub(crate) provider_access_token: Option<String>,
    pub(crate) provider_refresh_token: Option<String>,
}

/// Stores the challenge of a flow by e-mail. The code is created with it and handed out by [`issue_code`].
pub(crate) async fn insert(
    db: &impl GenericClient,
    user_id: Uuid,
    challenge: &CodeChallenge,
    method: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/insert_flow_state.sql");
    run_statement(
        db,
        SQL,
        &[
            &user_id,
            &challenge.method.as_str(),
            &challenge.challenge,
            &method,
            &now,
        ],
    )
    .await
}

/// Returns the code of the user's newest flow with this method, and starts its lifetime; `None` when there is none.
pub(crate) async fn issue_code(
    db: &impl GenericClient,
    user_id: Uuid,
    method: &str,
    now: DateTime<Utc>,
) -> DbResult<Option<String>> {
    let row = find_row(
        db,
        include_str!("../../sql/issue_auth_code.sql"),
        &[&user_id, &method, &now],
    )
    .await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// Finds the user of a code without a lock; `None` for an unknown code and before the user is known.
pub(crate) async fn find_user_by_code(db: &impl GenericClient, code: &str) -> DbResult<Option<Uuid>> {
    const SQL: &str = "select user_id from auth.flow_state where auth_code = $1::text";
    match find_row(db, SQL, &[&code]).await? {
        Some(row) => row.try_get(0),
        None => Ok(None),
    }
}

/// Finds the flow of a code and locks its row, so that of two concurrent requests only one exchanges the code.
pub(crate) async fn lock_by_code(db: &impl GenericClient, code: &str) -> DbResult<Option<FlowState>> {
    // A flow by e-mail counts from the opening of the link, because a mail may be read late. A sign-in with a provider
    // counts from its start: the visit at the provider and the exchange share one lifetime.
    const SQL: &str = "select id, user_id, code_challenge, code_challenge_method::text as challenge_method, \
                       authentication_method, provider_type, \
                       case when authentication_method in ('oauth', 'sso/saml') then created_at \
                         else coalesce(auth_code_issued_at, created_at) end as issued_at, \
                       provider_access_token, provider_refresh_token \
                       from auth.flow_state where auth_code = $1::text for update";
    let Some(row) = find_row(db, SQL, &[&code]).await? else {
        return Ok(None);
    };
    let challenge: Option<String> = row.try_get("code_challenge")?;
    let method: Option<String> = row.try_get("challenge_method")?;
    Ok(Some(FlowState {
        id: row.try_get("id")?,
        user_id: row.try_get("user_id")?,
        // Challenge and method are either both null or both set.
        challenge: challenge
            .zip(method.as_deref().and_then(ChallengeMethod::parse))
            .map(|(challenge, method)| CodeChallenge { challenge, method }),
        method: row.try_get("authentication_method")?,
        provider_type: row.try_get("provider_type")?,
        issued_at: row.try_get("issued_at")?,
        provider_access_token: row.try_get("provider_access_token")?,
        provider_refresh_token: row.try_get("provider_refresh_token")?,
    }))
}

/// Deletes a flow that is finished or refused.
pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run_statement(db, "delete from auth.flow_state where id = $1", &[&id]).await
}
