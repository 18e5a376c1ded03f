//! `auth.audit_log_entries`: who did what. Source: Auth contract §6.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, list, run};
use crate::user::{User, timestamp};

/// What happened.
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
    PasskeyCreated,
    PasskeyUpdated,
    PasskeyDeleted,
}

impl Action {
    /// Name and type of the entry.
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
            Self::PasskeyCreated => ("passkey_created", "user"),
            Self::PasskeyUpdated => ("passkey_updated", "user"),
            Self::PasskeyDeleted => ("passkey_deleted", "user"),
        }
    }
}

/// Who did it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Actor<'a> {
    /// A user, about themselves.
    User(&'a User),
    /// An administrator's token of this role, about a user.
    Admin { role: &'a str, subject: &'a User },
}

/// Writes one entry. `traits` says more about it; null means nothing.
pub(crate) async fn insert(
    db: &impl GenericClient,
    actor: Actor<'_>,
    action: Action,
    traits: Value,
    ip: &str,
) -> DbResult<()> {
    const SQL: &str = "insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address) \
                       values ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), $1, clock_timestamp(), $2::text)";
    run(db, SQL, &[&payload(actor, action, traits), &ip]).await
}

fn payload(actor: Actor<'_>, action: Action, mut traits: Value) -> Value {
    let (name, log_type) = action.names();
    let (id, username, via_sso, full_name) = match actor {
        Actor::User(user) => {
            // Compat: who has both is known by the number.
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
            if traits.is_null() {
                traits = json!({ "user_id": subject.id, "user_email": subject.email });
                if action != Action::UserInvited {
                    traits["user_phone"] = json!(subject.phone);
                }
            }
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
    if let Some(full_name) = full_name {
        payload["actor_name"] = full_name;
    }
    if !traits.is_null() {
        payload["traits"] = traits;
    }
    payload
}

/// A page of entries, newest first, and how many there are; `members` of the payload must be like `pattern`.
pub(crate) async fn list_page(
    db: &impl GenericClient,
    members: &[&str],
    pattern: &str,
    limit: i64,
    offset: i64,
) -> DbResult<(Vec<Value>, i64)> {
    const SQL: &str = include_str!("../../sql/list_audit_entries.sql");
    let rows = list(db, SQL, &[&members, &pattern, &limit, &offset]).await?;
    let total = rows.first().map_or(Ok(0), |row| row.try_get("total"))?;
    let entry = |row: &Row| {
        Ok(json!({
            "id": row.try_get::<_, Uuid>("id")?,
            "payload": row.try_get::<_, Value>("payload")?,
            "created_at": row.try_get::<_, Option<DateTime<Utc>>>("created_at")?.map(timestamp),
            "ip_address": row.try_get::<_, String>("ip_address")?,
        }))
    };
    Ok((rows.iter().map(entry).collect::<DbResult<_>>()?, total))
}
