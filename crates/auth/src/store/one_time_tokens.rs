//! Pending codes and links. The token of a link is stored twice, as in GoTrue: in a column of `auth.users` with its time of
//! sending, and in `auth.one_time_tokens`, where it is looked up. The code is stored with [`super::one_time_codes`], which
//! counts its attempts.
//!
//! Source: Auth contract §3.4.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use tokio_postgres::Row;
use uuid::Uuid;

use super::one_time_codes::{self, TryingNetwork};
use super::{DbResult, code_requests, execute_statement, find_row, list_rows, run_statement};
use crate::crypto::equal_hashes;
use crate::crypto::one_time_code::{CodeKey, OneTimeCode};
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

/// A one-time token that was sent to an address or phone number.
#[derive(Clone, Copy)]
pub(crate) struct SentToken<'a> {
    pub(crate) kind: TokenKind,
    /// The e-mail address or phone number that it was sent to.
    pub(crate) address: &'a str,
    pub(crate) code: &'a OneTimeCode,
    /// Hashes the code.
    pub(crate) key: &'a CodeKey,
    /// The network that has asked for it; `None` for an administrator's.
    pub(crate) asked_by: Option<&'a str>,
}

/// Stores a token for look-up, and its code; it replaces the user's token of the same type, with the attempts of its code.
pub(crate) async fn upsert_lookup(
    db: &impl GenericClient,
    user_id: Uuid,
    token: SentToken<'_>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/upsert_one_time_token.sql");
    let SentToken {
        kind,
        address,
        code,
        key,
        asked_by,
    } = token;
    // Each token has an id of its own, which its code is found and hashed by.
    let id = Uuid::new_v4();
    run_statement(
        db,
        SQL,
        &[&user_id, &kind.as_str(), &code.hash, &address.to_lowercase(), &id],
    )
    .await?;
    one_time_codes::insert(db, id, &key.hash_code(id, address, &code.otp), now).await?;
    match asked_by {
        Some(network) => code_requests::record(db, key, (address, network), true).await,
        None => Ok(()),
    }
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
    let sql = match token.kind {
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
            return upsert_lookup(db, user_id, token, now).await;
        }
    };
    execute_statement(db, sql, &[&user_id, &token.code.hash, &now]).await?;
    upsert_lookup(db, user_id, token, now).await
}

/// Finds the user of a link's token, if the verification accepts its type. Expiry is checked by the caller.
///
/// A token without a code is one of an older version, which followed from address and code and so could be guessed: it counts
/// as expired.
pub(crate) async fn find_owner(
    db: &impl GenericClient,
    verify_type: VerifyType,
    token: &str,
) -> DbResult<Option<Uuid>> {
    // A code sent by SMS must not confirm an e-mail address, nor the other way round, although both are confirmation
    // tokens. Only addresses contain an `@`.
    const SQL: &str = "select user_id from auth.one_time_tokens token where token_hash = $1::text \
                       and token_type::text = any($2) and (strpos(relates_to, '@') = 0) = $3 \
                       and exists (select from _selvedge.selvedge_one_time_codes where secret_id = token.id) limit 1";
    let kinds = list_accepted(verify_type);
    let row = find_row(db, SQL, &[&token, &kinds, &verify_type.is_by_phone()]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// The address or number that a token of the user was sent to, if the verification accepts its type.
pub(crate) async fn find_recipient(
    db: &impl GenericClient,
    user_id: Uuid,
    verify_type: VerifyType,
    token: &str,
) -> DbResult<Option<String>> {
    const SQL: &str = "select relates_to from auth.one_time_tokens where user_id = $1 and token_hash = $2::text \
                       and token_type::text = any($3) limit 1";
    let kinds = list_accepted(verify_type);
    let row = find_row(db, SQL, &[&user_id, &token, &kinds]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// The names of the token types that a verification accepts.
fn list_accepted(verify_type: VerifyType) -> Vec<&'static str> {
    let kinds = TokenKind::accepted_by(verify_type).iter();
    kinds.map(|kind| kind.as_str()).collect()
}

/// A pending token that a typed code may belong to.
#[derive(Debug, Clone)]
pub(crate) struct PendingCode {
    /// What the attempts are counted by.
    pub(crate) id: Uuid,
    pub(crate) user_id: Uuid,
    /// The token of the link.
    pub(crate) token: String,
}

impl PendingCode {
    fn from_row(row: &Row) -> DbResult<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            user_id: row.try_get("user_id")?,
            token: row.try_get("token_hash")?,
        })
    }
}

/// Lists the pending tokens that were sent to an address (in lowercase), newest first. Several users may have asked for a
/// change to the same address.
pub(crate) async fn list_by_address(
    db: &impl GenericClient,
    verify_type: VerifyType,
    address: &str,
) -> DbResult<Vec<PendingCode>> {
    // The limit bounds the work of one request, whoever has asked for codes.
    const SQL: &str = "select id, user_id, token_hash from auth.one_time_tokens \
                       where relates_to = $1::text and token_type::text = any($2) \
                       and (strpos(relates_to, '@') = 0) = $3 order by created_at desc limit 10";
    let kinds = list_accepted(verify_type);
    let rows = list_rows(db, SQL, &[&address, &kinds, &verify_type.is_by_phone()]).await?;
    rows.iter().map(PendingCode::from_row).collect()
}

/// Finds the user's pending token of one type.
pub(crate) async fn find_by_user(
    db: &impl GenericClient,
    user_id: Uuid,
    kind: TokenKind,
) -> DbResult<Option<PendingCode>> {
    const SQL: &str = "select id, user_id, token_hash from auth.one_time_tokens \
                       where user_id = $1 and token_type::text = $2::text";
    let row = find_row(db, SQL, &[&user_id, &kind.as_str()]).await?;
    row.as_ref().map(PendingCode::from_row).transpose()
}

/// Counts an attempt of a network at the code of a pending token; whether it is right.
pub(crate) async fn try_code(
    db: &impl GenericClient,
    key: &CodeKey,
    pending: &PendingCode,
    (address, otp): (&str, &str),
    network: TryingNetwork<'_>,
) -> DbResult<bool> {
    let stored = one_time_codes::take_attempt(db, pending.id, network).await?;
    let presented = key.hash_code(pending.id, address, otp);
    Ok(stored.is_some_and(|stored| equal_hashes(&stored, &presented)))
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
