//! Pending codes and links: the token columns of `auth.users`, and `auth.one_time_tokens` where they are looked up.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, execute, find, run};
use crate::machine::verify::VerifyType;

/// The kinds of tokens, as the database names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Confirmation,
    Recovery,
    EmailChangeNew,
    EmailChangeCurrent,
    PhoneChange,
    Reauthentication,
}

impl TokenKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Confirmation => "confirmation_token",
            Self::Recovery => "recovery_token",
            Self::EmailChangeNew => "email_change_token_new",
            Self::EmailChangeCurrent => "email_change_token_current",
            Self::PhoneChange => "phone_change_token",
            Self::Reauthentication => "reauthentication_token",
        }
    }

    /// The kinds that a link or code of this type can be.
    fn of_type(kind: VerifyType) -> &'static [Self] {
        match kind {
            VerifyType::Signup | VerifyType::Invite => &[Self::Confirmation],
            VerifyType::MagicLink | VerifyType::Recovery => &[Self::Recovery],
            VerifyType::Email => &[Self::Confirmation, Self::Recovery],
            VerifyType::EmailChange => &[Self::EmailChangeNew, Self::EmailChangeCurrent],
            VerifyType::Sms => &[Self::Confirmation],
            VerifyType::PhoneChange => &[Self::PhoneChange],
        }
    }
}

/// Keeps a token where it can be looked up; a user has one of each kind.
pub(crate) async fn put(
    db: &impl GenericClient,
    user_id: Uuid,
    kind: TokenKind,
    hash: &str,
    relates_to: &str,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/put_one_time_token.sql");
    run(db, SQL, &[&user_id, &kind.as_str(), &hash, &relates_to]).await
}

/// Sets a pending token of a user and when it was sent to `address`, and keeps it where it can be looked up. Changes of an address
/// set more than that, see `users`.
pub(crate) async fn set(
    db: &impl GenericClient,
    user_id: Uuid,
    kind: TokenKind,
    address: &str,
    hash: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    let sql = match kind {
        TokenKind::Confirmation => {
            "update auth.users set confirmation_token = $2::text, confirmation_sent_at = $3, updated_at = $3 where id = $1"
        }
        TokenKind::Recovery => {
            "update auth.users set recovery_token = $2::text, recovery_sent_at = $3, updated_at = $3 where id = $1"
        }
        TokenKind::Reauthentication => {
            "update auth.users set reauthentication_token = $2::text, reauthentication_sent_at = $3, updated_at = $3 \
             where id = $1"
        }
        TokenKind::EmailChangeNew | TokenKind::EmailChangeCurrent | TokenKind::PhoneChange => {
            return put(db, user_id, kind, hash, address).await;
        }
    };
    execute(db, sql, &[&user_id, &hash, &now]).await?;
    put(db, user_id, kind, hash, address).await
}

/// Whose token this is: one of the hashes, of a kind that `asked` allows, sent to `address` if one is given.
pub(crate) async fn find_owner(
    db: &impl GenericClient,
    asked: VerifyType,
    hashes: &[String],
    address: Option<&str>,
) -> DbResult<Option<Uuid>> {
    // A code by text message must not confirm an e-mail address, nor the other way round, although both are confirmation tokens.
    const SQL: &str = "select user_id from auth.one_time_tokens where token_hash = any($1) \
                       and token_type::text = any($2) and ($3::text is null or lower(relates_to) = $3::text) \
                       and (strpos(relates_to, '@') = 0) = $4 limit 1";
    let kinds: Vec<&str> = TokenKind::of_type(asked)
        .iter()
        .map(|kind| kind.as_str())
        .collect();
    let row = find(db, SQL, &[&hashes, &kinds, &address, &asked.is_by_phone()]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// Forgets one kind.
pub(crate) async fn clear(db: &impl GenericClient, user_id: Uuid, kind: TokenKind) -> DbResult<()> {
    const SQL: &str = "delete from auth.one_time_tokens where user_id = $1 and token_type::text = $2::text";
    run(db, SQL, &[&user_id, &kind.as_str()]).await
}

/// A successful verification uses up every pending token of the user.
pub(crate) async fn clear_all(db: &impl GenericClient, user_id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    execute(
        db,
        "delete from auth.one_time_tokens where user_id = $1",
        &[&user_id],
    )
    .await?;
    const SQL: &str = "update auth.users set confirmation_token = '', recovery_token = '', \
                       email_change_token_new = '', email_change_token_current = '', phone_change_token = '', \
                       reauthentication_token = '', updated_at = $2 where id = $1";
    run(db, SQL, &[&user_id, &now]).await
}
