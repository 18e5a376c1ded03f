//! `auth.audit_log_entries`: one JSON entry per action of a user or an administrator, written in the transaction of
//! that action.
//!
//! Source: Auth contract §6, "Audit payload".

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, escape_like_pattern, list_rows, run_statement};
use crate::user::{User, format_timestamp};

/// The actions that are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Login,
    Logout,
    InviteAccepted,
    UserSignedUp,
    UserInvited,
    UserDeleted,
    TokenRefreshed,
    TokenRevoked,
    UserModified,
    RecoveryRequested,
    ReauthenticateRequested,
    ConfirmationRequested,
    RepeatedSignup,
    UpdatedPassword,
    IdentityLinked,
    IdentityUnlinked,
    FactorInProgress,
    FactorUnenrolled,
    FactorUpdated,
    FactorDeleted,
    ChallengeCreated,
    VerificationAttempted,
    RecoveryCodesGenerated,
    RecoveryCodesVerified,
    RecoveryCodesRegenerated,
    RecoveryCodesDeleted,
    PasskeyCreated,
    PasskeyUpdated,
    PasskeyDeleted,
}

impl Action {
    /// `action` and `log_type` of the entry; administrators filter by both.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Login => ("login", "account"),
            Self::Logout => ("logout", "account"),
            Self::InviteAccepted => ("invite_accepted", "account"),
            Self::UserSignedUp => ("user_signedup", "team"),
            Self::UserInvited => ("user_invited", "team"),
            Self::UserDeleted => ("user_deleted", "team"),
            Self::TokenRefreshed => ("token_refreshed", "token"),
            Self::TokenRevoked => ("token_revoked", "token"),
            Self::UserModified => ("user_modified", "user"),
            Self::RecoveryRequested => ("user_recovery_requested", "user"),
            Self::ReauthenticateRequested => ("user_reauthenticate_requested", "user"),
            Self::ConfirmationRequested => ("user_confirmation_requested", "user"),
            Self::RepeatedSignup => ("user_repeated_signup", "user"),
            Self::UpdatedPassword => ("user_updated_password", "user"),
            Self::IdentityLinked => ("identity_linked", "user"),
            Self::IdentityUnlinked => ("identity_unlinked", "user"),
            Self::FactorInProgress => ("factor_in_progress", "factor"),
            Self::FactorUnenrolled => ("factor_unenrolled", "factor"),
            Self::FactorUpdated => ("factor_updated", "factor"),
            Self::FactorDeleted => ("factor_deleted", "factor"),
            Self::ChallengeCreated => ("challenge_created", "factor"),
            Self::VerificationAttempted => ("verification_attempted", "factor"),
            Self::RecoveryCodesGenerated => ("recovery_codes_generated", "factor"),
            Self::RecoveryCodesVerified => ("recovery_codes_verified", "factor"),
            Self::RecoveryCodesRegenerated => ("recovery_codes_regenerated", "factor"),
            Self::RecoveryCodesDeleted => ("recovery_codes_deleted", "factor"),
            Self::PasskeyCreated => ("passkey_created", "user"),
            Self::PasskeyUpdated => ("passkey_updated", "user"),
            Self::PasskeyDeleted => ("passkey_deleted", "user"),
        }
    }
}

/// Who performed the action.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Actor<'a> {
    /// A user, on their own account.
    User(&'a User),
    /// A token with an administrator's role, on the account of `subject`.
    Admin { role: &'a str, subject: &'a User },
}

/// Writes one entry. `traits` are the details of the action; null means none.
pub(crate) async fn insert(
    db: &impl GenericClient,
    actor: Actor<'_>,
    action: Action,
    traits: Value,
    ip: &str,
) -> DbResult<()> {
    // Unlike `now()`, `clock_timestamp()` advances inside a transaction, so several entries of one transaction keep
    // their order.
    const SQL: &str = "insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address) \
                       values ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), $1, clock_timestamp(), $2::text)";
    run_statement(db, SQL, &[&build_payload(actor, action, traits), &ip]).await
}

/// Builds `{action, actor_id, actor_username, actor_via_sso, log_type, actor_name?, traits?}`.
fn build_payload(actor: Actor<'_>, action: Action, mut traits: Value) -> Value {
    let (name, log_type) = action.names();
    let (id, username, via_sso, full_name) = match actor {
        Actor::User(user) => {
            // Compat: GoTrue names a user who has both a phone number and an address by the phone number.
            let username = if user.phone.is_empty() {
                &user.email
            } else {
                &user.phone
            };
            (
                user.id,
                username.as_str(),
                user.is_sso_user,
                user.user_metadata.get("full_name").cloned(),
            )
        }
        Actor::Admin { role, subject } => {
            // Compat: an administrator's entry names the affected user unless the caller gives other details; that of
            // an invitation has no phone number.
            if traits.is_null() {
                traits = json!({ "user_id": subject.id, "user_email": subject.email });
                if action != Action::UserInvited {
                    traits["user_phone"] = json!(subject.phone);
                }
            }
            // Compat: an administrator has no row in `auth.users`, so the role of the token takes the place of the
            // name.
            (Uuid::nil(), role, false, None)
        }
    };
    let mut payload = json!({
        "action": name,
        "actor_id": id,
        "actor_username": username,
        "actor_via_sso": via_sso,
        "log_type": log_type,
    });
    // Compat: the member is left out, not null, when the user has no full name.
    if let Some(full_name) = full_name {
        payload["actor_name"] = full_name;
    }
    if !traits.is_null() {
        payload["traits"] = traits;
    }
    payload
}

/// Lists a page of entries, newest first, and counts all that match.
///
/// An entry matches when one of `members` of its payload contains `text` in any case; without members, every entry
/// matches.
pub(crate) async fn list_page(
    db: &impl GenericClient,
    members: &[&str],
    text: &str,
    limit: i64,
    offset: i64,
) -> DbResult<(Vec<Value>, i64)> {
    const SQL: &str = include_str!("../../sql/list_audit_entries.sql");
    let rows = list_rows(db, SQL, &[&members, &escape_like_pattern(text), &limit, &offset]).await?;
    // The count is a column of the page's rows, so it is 0 for a page after the last one.
    let total = rows.first().map_or(Ok(0), |row| row.try_get("total"))?;
    let entry = |row: &Row| {
        Ok(json!({
            "id": row.try_get::<_, Uuid>("id")?,
            "payload": row.try_get::<_, Value>("payload")?,
            "created_at": row.try_get::<_, Option<DateTime<Utc>>>("created_at")?.map(format_timestamp),
            "ip_address": row.try_get::<_, String>("ip_address")?,
        }))
    };
    Ok((rows.iter().map(entry).collect::<DbResult<_>>()?, total))
}
