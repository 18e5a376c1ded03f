//! `auth.flow_state`: PKCE flows between their start and the exchange of the code.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, find, run};
use crate::rules::pkce::{ChallengeMethod, CodeChallenge};

/// A flow whose code was presented.
#[derive(Debug, Clone)]
pub(crate) struct FlowState {
    pub(crate) id: Uuid,
    pub(crate) user_id: Option<Uuid>,
    pub(crate) challenge: Option<CodeChallenge>,
    pub(crate) method: String,
    pub(crate) provider_type: String,
    /// When the clock began to run: with the click for a flow by mail, with its beginning for a visit to a provider.
    pub(crate) issued_at: Option<DateTime<Utc>>,
    pub(crate) provider_access_token: Option<String>,
    pub(crate) provider_refresh_token: Option<String>,
}

/// Remembers the challenge of a flow by mail.
pub(crate) async fn insert(
    db: &impl GenericClient,
    user_id: Uuid,
    challenge: &CodeChallenge,
    method: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/insert_flow_state.sql");
    run(
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

/// Hands out the code of the user's newest flow by this method.
pub(crate) async fn issue_code(
    db: &impl GenericClient,
    user_id: Uuid,
    method: &str,
    now: DateTime<Utc>,
) -> DbResult<Option<String>> {
    let row = find(
        db,
        include_str!("../../sql/issue_auth_code.sql"),
        &[&user_id, &method, &now],
    )
    .await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// The flow of this code, locked: an exchange happens once.
pub(crate) async fn lock_by_code(db: &impl GenericClient, code: &str) -> DbResult<Option<FlowState>> {
    const SQL: &str = "select id, user_id, code_challenge, code_challenge_method::text as challenge_method, \
                       authentication_method, provider_type, \
                       case when authentication_method in ('oauth', 'sso/saml') then created_at \
                         else coalesce(auth_code_issued_at, created_at) end as issued_at, \
                       provider_access_token, provider_refresh_token \
                       from auth.flow_state where auth_code = $1::text for update";
    let Some(row) = find(db, SQL, &[&code]).await? else {
        return Ok(None);
    };
    let challenge: Option<String> = row.try_get("code_challenge")?;
    let method: Option<String> = row.try_get("challenge_method")?;
    Ok(Some(FlowState {
        id: row.try_get("id")?,
        user_id: row.try_get("user_id")?,
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

pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run(db, "delete from auth.flow_state where id = $1", &[&id]).await
}
