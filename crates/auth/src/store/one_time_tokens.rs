//! Pending codes and links. Each is stored twice, as in GoTrue: in a column of `auth.users` with its time of sending,
//! and in `auth.one_time_tokens`, where it is looked up by its hash.
//!
//! Source: Auth contract §3.4.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, execute_statement, find_row, run_statement};
use crate::validation::verify_type::VerifyType;

/// The values of `token_type`. A user has at most one pending token of each.
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
    /// The value of the enum in the database, and the column of `auth.users`.
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

    /// The token types that a verification of this `type` accepts. `email` accepts two, because a client cannot know
    /// whether the code was for a new or an existing user.
    fn accepted_by(kind: VerifyType) -> &'static [Self] {
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

/// Stores a token for look-up; it replaces the user's token of the same type. `relates_to` is the address or number
/// that it was sent to.
pub(crate) async fn upsert_lookup(
    db: &impl GenericClient,
    user_id: Uuid,
    kind: TokenKind,
    hash: &str,
    relates_to: &str,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/upsert_one_time_token.sql");
    run_statement(db, SQL, &[&user_id, &kind.as_str(), &hash, &relates_to]).await
}

/// A one-time token that was sent to an address or phone number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentToken<'a> {
    pub(crate) kind: TokenKind,
    /// The e-mail address or phone number that it was sent to.
    pub(crate) address: &'a str,
    pub(crate) hash: &'a str,
}

/// Stores a pending token in the user's row, with the time of sending, and for look-up.
///
/// A change of address or phone number has further columns: [`super::users::set_email_change`] and
/// [`super::phones::set_phone_change`] write the user's row, and this function only the look-up.
pub(crate) async fn store_token(
    db: &impl GenericClient,
    user_id: Uuid,
    token: SentToken<'_>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    let SentToken { kind, address, hash } = token;
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
        // Their columns in the user's row are written together with the new address or number.
        TokenKind::EmailChangeNew | TokenKind::EmailChangeCurrent | TokenKind::PhoneChange => {
            return upsert_lookup(db, user_id, kind, hash, address).await;
        }
    };
    execute_statement(db, sql, &[&user_id, &hash, &now]).await?;
    upsert_lookup(db, user_id, kind, hash, address).await
}

/// Finds the user of a token: its hash is one of `hashes`, its type is accepted by the verification, and it was sent to
/// `address` if one is given. Expiry is checked by the caller.
pub(crate) async fn find_owner(
    db: &impl GenericClient,
    verify_type: VerifyType,
    hashes: &[String],
    address: Option<&str>,
) -> DbResult<Option<Uuid>> {
    // A code sent by SMS must not confirm an e-mail address, nor the other way round, although both are confirmation
    // tokens. Only addresses contain an `@`.
    const SQL: &str = "select user_id from auth.one_time_tokens where token_hash = any($1) \
                       and token_type::text = any($2) and ($3::text is null or lower(relates_to) = $3::text) \
                       and (strpos(relates_to, '@') = 0) = $4 limit 1";
    let kinds: Vec<&str> = TokenKind::accepted_by(verify_type)
        .iter()
        .map(|kind| kind.as_str())
        .collect();
    let row = find_row(db, SQL, &[&hashes, &kinds, &address, &verify_type.is_by_phone()]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// The address or number that a token of the user was sent to: its hash is one of `hashes`, and its type is accepted by the
/// verification.
pub(crate) async fn find_recipient(
    db: &impl GenericClient,
    user_id: Uuid,
    verify_type: VerifyType,
    hashes: &[String],
) -> DbResult<Option<String>> {
    const SQL: &str = "select relates_to from auth.one_time_tokens where user_id = $1 and token_hash = any($2) \
                       and token_type::text = any($3) limit 1";
    let kinds: Vec<&str> = TokenKind::accepted_by(verify_type)
        .iter()
        .map(|kind| kind.as_str())
        .collect();
    let row = find_row(db, SQL, &[&user_id, &hashes, &kinds]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// Deletes the user's token of one type from the look-up.
pub(crate) async fn delete_lookup(db: &impl GenericClient, user_id: Uuid, kind: TokenKind) -> DbResult<()> {
    const SQL: &str = "delete from auth.one_time_tokens where user_id = $1 and token_type::text = $2::text";
    run_statement(db, SQL, &[&user_id, &kind.as_str()]).await
}

/// Deletes every pending token of the user, in both places, after one of them was verified.
pub(crate) async fn clear_all_tokens(
    db: &impl GenericClient,
    user_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<()> {
    execute_statement(
        db,
        "delete from auth.one_time_tokens where user_id = $1",
        &[&user_id],
    )
    .await?;
    const SQL: &str = "update auth.users set confirmation_token = '', recovery_token = '', \
                       email_change_token_new = '', email_change_token_current = '', phone_change_token = '', \
                       reauthentication_token = '', updated_at = $2 where id = $1";
    run_statement(db, SQL, &[&user_id, &now]).await
}
