//! `auth.oauth_authorizations` and `auth.oauth_consents`: what a program has asked for, and what a user has granted.

use chrono::{DateTime, TimeDelta, Utc};
use deadpool_postgres::GenericClient;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, execute, find, list};
use crate::rules::pkce::{ChallengeMethod, CodeChallenge};

/// A request for consent, and the code that comes of it, live for so long.
const LIFE: TimeDelta = TimeDelta::minutes(10);

/// A request as stored.
#[derive(Debug, Clone)]
pub(crate) struct Authorization {
    pub(crate) id: Uuid,
    /// Random; stands in the URL of the consent page.
    pub(crate) authorization_id: String,
    pub(crate) client_id: Uuid,
    pub(crate) user_id: Option<Uuid>,
    pub(crate) redirect_uri: String,
    pub(crate) scope: String,
    pub(crate) state: String,
    pub(crate) resource: String,
    pub(crate) nonce: String,
    pub(crate) challenge: Option<CodeChallenge>,
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

/// What a program asks for.
#[derive(Debug)]
pub(crate) struct NewAuthorization<'a> {
    pub(crate) authorization_id: &'a str,
    pub(crate) client_id: Uuid,
    pub(crate) redirect_uri: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) state: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) nonce: &'a str,
    pub(crate) challenge: &'a CodeChallenge,
}

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
        &(now + LIFE),
    ];
    execute(db, SQL, params).await.map(|_| ())
}

/// The request, locked: it is decided once.
pub(crate) async fn lock(db: &impl GenericClient, authorization_id: &str) -> DbResult<Option<Authorization>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_oauth_authorization.sql"),
        "where authorization_id = $1::text for update"
    );
    find(db, SQL, &[&authorization_id])
        .await?
        .as_ref()
        .map(Authorization::from_row)
        .transpose()
}

/// The approved request of this code, locked: it is exchanged once.
pub(crate) async fn lock_by_code(db: &impl GenericClient, code: &str) -> DbResult<Option<Authorization>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_oauth_authorization.sql"),
        "where authorization_code = $1::text and status = 'approved' for update"
    );
    find(db, SQL, &[&code])
        .await?
        .as_ref()
        .map(Authorization::from_row)
        .transpose()
}

pub(crate) async fn set_user(db: &impl GenericClient, id: Uuid, user_id: Uuid) -> DbResult<()> {
    const SQL: &str = "update auth.oauth_authorizations set user_id = $2 where id = $1";
    execute(db, SQL, &[&id, &user_id]).await.map(|_| ())
}

pub(crate) async fn approve(
    db: &impl GenericClient,
    id: Uuid,
    code: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.oauth_authorizations set status = 'approved', approved_at = $3, \
                       authorization_code = $2::text where id = $1";
    execute(db, SQL, &[&id, &code, &now]).await.map(|_| ())
}

pub(crate) async fn deny(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    const SQL: &str = "update auth.oauth_authorizations set status = 'denied' where id = $1";
    execute(db, SQL, &[&id]).await.map(|_| ())
}

pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    execute(db, "delete from auth.oauth_authorizations where id = $1", &[&id])
        .await
        .map(|_| ())
}

/// What a user has granted to a program, if it still holds.
pub(crate) async fn find_consent(
    db: &impl GenericClient,
    user_id: Uuid,
    client_id: Uuid,
) -> DbResult<Option<Vec<String>>> {
    const SQL: &str = "select scopes from auth.oauth_consents \
                       where user_id = $1 and client_id = $2 and revoked_at is null";
    let row = find(db, SQL, &[&user_id, &client_id]).await?;
    row.map(|row| Ok(scopes(&row.try_get::<_, String>(0)?)))
        .transpose()
}

/// A grant as its user sees it.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) client_id: Uuid,
    pub(crate) scopes: Vec<String>,
    pub(crate) granted_at: DateTime<Utc>,
}

pub(crate) async fn list_consents(db: &impl GenericClient, user_id: Uuid) -> DbResult<Vec<Grant>> {
    const SQL: &str = "select client_id, scopes, granted_at from auth.oauth_consents \
                       where user_id = $1 and revoked_at is null order by granted_at desc";
    let rows = list(db, SQL, &[&user_id]).await?;
    let grant = |row: &Row| {
        Ok(Grant {
            client_id: row.try_get(0)?,
            scopes: scopes(&row.try_get::<_, String>(1)?),
            granted_at: row.try_get(2)?,
        })
    };
    rows.iter().map(grant).collect()
}

fn scopes(text: &str) -> Vec<String> {
    text.split(' ')
        .filter(|scope| !scope.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Remembers what the user grants, beside what was granted before.
pub(crate) async fn grant(
    db: &impl GenericClient,
    user_id: Uuid,
    client_id: Uuid,
    scope: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    execute(
        db,
        include_str!("../../sql/put_oauth_consent.sql"),
        &[&user_id, &client_id, &scope, &now],
    )
    .await
    .map(|_| ())
}

/// Takes a grant back, and ends the program's sessions for this user; whether there was one.
pub(crate) async fn revoke(
    db: &impl GenericClient,
    user_id: Uuid,
    client_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<bool> {
    const SQL: &str = "update auth.oauth_consents set revoked_at = greatest($3, granted_at) \
                       where user_id = $1 and client_id = $2 and revoked_at is null";
    let revoked = execute(db, SQL, &[&user_id, &client_id, &now]).await? > 0;
    for sql in [
        "delete from auth.sessions where user_id = $1 and oauth_client_id = $2",
        "delete from auth.oauth_authorizations where user_id = $1 and client_id = $2",
    ] {
        execute(db, sql, &[&user_id, &client_id]).await?;
    }
    Ok(revoked)
}

/// Ties a session to the program that it was made for.
pub(crate) async fn bind_session(
    db: &impl GenericClient,
    session_id: Uuid,
    client_id: Uuid,
    scope: &str,
) -> DbResult<()> {
    const SQL: &str = "update auth.sessions set oauth_client_id = $2, scopes = $3::text where id = $1";
    execute(db, SQL, &[&session_id, &client_id, &scope])
        .await
        .map(|_| ())
}

/// Program and scopes of a session; a user's own session has neither.
pub(crate) async fn find_binding(
    db: &impl GenericClient,
    session_id: Uuid,
) -> DbResult<(Option<Uuid>, Option<String>)> {
    const SQL: &str = "select oauth_client_id, scopes from auth.sessions where id = $1";
    match find(db, SQL, &[&session_id]).await? {
        Some(row) => Ok((row.try_get(0)?, row.try_get(1)?)),
        None => Ok((None, None)),
    }
}
