//! `auth.oauth_authorizations` and `auth.oauth_consents`: authorization requests of OAuth clients, and the scopes that
//! users have granted them.
//!
//! Source: Auth contract §2.16.

use chrono::{DateTime, TimeDelta, Utc};
use deadpool_postgres::GenericClient;
use sha2::{Digest as _, Sha256};
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, execute_statement, find_row, list_rows};
use crate::crypto::pkce::{ChallengeMethod, CodeChallenge};

/// How long a request waits for the user's decision, and its code for the exchange; both count from the request.
/// Source: Auth contract §2.16.
const LIFETIME: TimeDelta = TimeDelta::minutes(10);

/// A row of `auth.oauth_authorizations`.
#[derive(Debug, Clone)]
pub(crate) struct Authorization {
    pub(crate) id: Uuid,
    /// Random text in the URL of the consent page.
    pub(crate) authorization_id: String,
    pub(crate) client_id: Uuid,
    /// The first user who opened the consent page, and from then on the only one who may decide.
    pub(crate) user_id: Option<Uuid>,
    /// One of the client's registered URIs. If the token request names one, it must be the same.
    pub(crate) redirect_uri: String,
    /// The requested scopes, separated by spaces.
    pub(crate) scope: String,
    /// Returned to the client unchanged; empty when it sent none.
    pub(crate) state: String,
    /// RFC 8707; empty when the client sent none.
    pub(crate) resource: String,
    /// Copied into the ID token; empty when the client sent none.
    pub(crate) nonce: String,
    pub(crate) challenge: Option<CodeChallenge>,
    /// `pending`, `approved`, `denied` or `expired`.
    pub(crate) status: String,
    pub(crate) expires_at: DateTime<Utc>,
}

impl Authorization {
    fn from_row(row: &Row) -> DbResult<Self> {
        let challenge: Option<String> = row.try_get("code_challenge")?;
        let method: Option<String> = row.try_get("code_challenge_method")?;
        Ok(Self {
            id: row.try_get("id")?,
            authorization_id: row.try_get("authorization_id")?,
            client_id: row.try_get("client_id")?,
            user_id: row.try_get("user_id")?,
            redirect_uri: row.try_get("redirect_uri")?,
            scope: row.try_get("scope")?,
            state: row.try_get("state")?,
            resource: row.try_get("resource")?,
            nonce: row.try_get("nonce")?,
            challenge: challenge
                .zip(method.as_deref().and_then(ChallengeMethod::parse))
                .map(|(challenge, method)| CodeChallenge { challenge, method }),
            status: row.try_get("status")?,
            expires_at: row.try_get("expires_at")?,
        })
    }
}

/// The columns of a new request.
#[derive(Debug)]
pub(crate) struct NewAuthorization<'a> {
    pub(crate) authorization_id: &'a str,
    pub(crate) client_id: Uuid,
    pub(crate) redirect_uri: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) state: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) nonce: &'a str,
    /// PKCE is mandatory for clients of this server.
    pub(crate) challenge: &'a CodeChallenge,
}

/// Inserts a pending request.
pub(crate) async fn insert(
    db: &impl GenericClient,
    new: &NewAuthorization<'_>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/insert_oauth_authorization.sql");
    let params: super::Params<'_> = &[
        &new.authorization_id,
        &new.client_id,
        &new.redirect_uri,
        &new.scope,
        &new.state,
        &new.resource,
        &new.nonce,
        &new.challenge.challenge,
        &new.challenge.method.as_str(),
        &now,
        &(now + LIFETIME),
    ];
    execute_statement(db, SQL, params).await.map(|_| ())
}

/// Finds a request and locks its row, so that of two concurrent decisions only one counts. The caller checks status and
/// expiry.
pub(crate) async fn lock_by_id(
    db: &impl GenericClient,
    authorization_id: &str,
) -> DbResult<Option<Authorization>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_oauth_authorization.sql"),
        "where authorization_id = $1::text for update"
    );
    find_row(db, SQL, &[&authorization_id])
        .await?
        .as_ref()
        .map(Authorization::from_row)
        .transpose()
}

/// Finds the user who has approved the request of a code, without a lock; `None` for an unknown code.
pub(crate) async fn find_user_by_code(db: &impl GenericClient, code: &str) -> DbResult<Option<Uuid>> {
    const SQL: &str = "select user_id from auth.oauth_authorizations \
                       where authorization_code = $1::text and status = 'approved'";
    match find_row(db, SQL, &[&code]).await? {
        Some(row) => row.try_get(0),
        None => Ok(None),
    }
}

/// Finds the approved request of a code and locks its row, so that a code is exchanged once. The caller checks the
/// expiry.
pub(crate) async fn lock_by_code(db: &impl GenericClient, code: &str) -> DbResult<Option<Authorization>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_oauth_authorization.sql"),
        "where authorization_code = $1::text and status = 'approved' for update"
    );
    find_row(db, SQL, &[&code])
        .await?
        .as_ref()
        .map(Authorization::from_row)
        .transpose()
}

/// Binds the request to the user who opened its consent page.
pub(crate) async fn set_user(db: &impl GenericClient, id: Uuid, user_id: Uuid) -> DbResult<()> {
    const SQL: &str = "update auth.oauth_authorizations set user_id = $2 where id = $1";
    execute_statement(db, SQL, &[&id, &user_id]).await.map(|_| ())
}

/// Approves the request and stores the code that the client gets.
pub(crate) async fn approve(
    db: &impl GenericClient,
    id: Uuid,
    code: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.oauth_authorizations set status = 'approved', approved_at = $3, \
                       authorization_code = $2::text where id = $1";
    execute_statement(db, SQL, &[&id, &code, &now]).await.map(|_| ())
}

/// Denies the request.
pub(crate) async fn deny(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    const SQL: &str = "update auth.oauth_authorizations set status = 'denied' where id = $1";
    execute_statement(db, SQL, &[&id]).await.map(|_| ())
}

/// Deletes the request, after its code was exchanged.
pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    execute_statement(db, "delete from auth.oauth_authorizations where id = $1", &[&id])
        .await
        .map(|_| ())
}

/// Remembers for which session a code was exchanged, until the code would have expired.
pub(crate) async fn remember_exchange(
    db: &impl GenericClient,
    code: &str,
    client_id: Uuid,
    session_id: Uuid,
    expires_at: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "insert into _selvedge.selvedge_exchanged_oauth_codes (code_hash, client_id, session_id, expires_at) \
                       values ($1, $2, $3, $4) on conflict do nothing";
    let hash = Sha256::digest(code);
    execute_statement(db, SQL, &[&hash.as_slice(), &client_id, &session_id, &expires_at])
        .await
        .map(|_| ())
}

/// Ends the session for which the client has exchanged this code before; false when it has not, or the session is gone.
pub(crate) async fn end_session_of_exchange(
    db: &impl GenericClient,
    code: &str,
    client_id: Uuid,
) -> DbResult<bool> {
    const SQL: &str = "delete from auth.sessions where id = (select session_id from _selvedge.selvedge_exchanged_oauth_codes \
                       where code_hash = $1 and client_id = $2 and expires_at > now())";
    let hash = Sha256::digest(code);
    Ok(execute_statement(db, SQL, &[&hash.as_slice(), &client_id]).await? > 0)
}

/// Finds the scopes that a user has granted to a client; `None` when there is no consent or it was revoked.
pub(crate) async fn find_consent(
    db: &impl GenericClient,
    user_id: Uuid,
    client_id: Uuid,
) -> DbResult<Option<Vec<String>>> {
    const SQL: &str = "select scopes from auth.oauth_consents \
                       where user_id = $1 and client_id = $2 and revoked_at is null";
    let row = find_row(db, SQL, &[&user_id, &client_id]).await?;
    row.map(|row| Ok(split_scopes(&row.try_get::<_, String>(0)?)))
        .transpose()
}

/// An entry of `GET /user/oauth/grants`.
#[derive(Debug)]
pub(crate) struct Consent {
    pub(crate) client_id: Uuid,
    pub(crate) scopes: Vec<String>,
    pub(crate) granted_at: DateTime<Utc>,
}

/// Lists the user's consents that are in force, newest first.
pub(crate) async fn list_consents(db: &impl GenericClient, user_id: Uuid) -> DbResult<Vec<Consent>> {
    const SQL: &str = "select client_id, scopes, granted_at from auth.oauth_consents \
                       where user_id = $1 and revoked_at is null order by granted_at desc";
    let rows = list_rows(db, SQL, &[&user_id]).await?;
    let grant = |row: &Row| {
        Ok(Consent {
            client_id: row.try_get(0)?,
            scopes: split_scopes(&row.try_get::<_, String>(1)?),
            granted_at: row.try_get(2)?,
        })
    };
    rows.iter().map(grant).collect()
}

/// Splits a stored list of scopes, which is separated by spaces.
fn split_scopes(text: &str) -> Vec<String> {
    text.split(' ')
        .filter(|scope| !scope.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Adds scopes to the user's consent for a client, or grants them anew after a revocation.
pub(crate) async fn upsert_consent(
    db: &impl GenericClient,
    user_id: Uuid,
    client_id: Uuid,
    scope: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    execute_statement(
        db,
        include_str!("../../sql/upsert_oauth_consent.sql"),
        &[&user_id, &client_id, &scope, &now],
    )
    .await
    .map(|_| ())
}

/// Revokes a consent; returns whether one was in force. The client's sessions and requests for this user are deleted in
/// any case, so its refresh tokens and codes stop working.
pub(crate) async fn revoke_consent(
    db: &impl GenericClient,
    user_id: Uuid,
    client_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<bool> {
    // A constraint requires `revoked_at >= granted_at`; the clocks of two nodes may differ.
    const SQL: &str = "update auth.oauth_consents set revoked_at = greatest($3, granted_at) \
                       where user_id = $1 and client_id = $2 and revoked_at is null";
    let revoked = execute_statement(db, SQL, &[&user_id, &client_id, &now]).await? > 0;
    // An authorization may have a code that was not exchanged yet; it must stop working as well.
    for sql in [
        "delete from auth.sessions where user_id = $1 and oauth_client_id = $2",
        "delete from auth.oauth_authorizations where user_id = $1 and client_id = $2",
    ] {
        execute_statement(db, sql, &[&user_id, &client_id]).await?;
    }
    Ok(revoked)
}

/// Records which client a session was created for, and with which scopes.
pub(crate) async fn set_session_client(
    db: &impl GenericClient,
    session_id: Uuid,
    client_id: Uuid,
    scope: &str,
) -> DbResult<()> {
    const SQL: &str = "update auth.sessions set oauth_client_id = $2, scopes = $3::text where id = $1";
    execute_statement(db, SQL, &[&session_id, &client_id, &scope])
        .await
        .map(|_| ())
}

/// Finds client and scopes of a session; both are `None` for a session of the user's own sign-in and for an unknown
/// one.
pub(crate) async fn find_session_client(
    db: &impl GenericClient,
    session_id: Uuid,
) -> DbResult<(Option<Uuid>, Option<String>)> {
    const SQL: &str = "select oauth_client_id, scopes from auth.sessions where id = $1";
    match find_row(db, SQL, &[&session_id]).await? {
        Some(row) => Ok((row.try_get(0)?, row.try_get(1)?)),
        None => Ok((None, None)),
    }
}
