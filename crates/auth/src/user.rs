//! A user as stored, and as clients see it. Source: Auth contract §2.0.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::machine::verify::PendingTokens;

/// One row of `auth.users`, with its identities and factors as JSON.
#[derive(Debug, Clone)]
pub(crate) struct User {
    pub(crate) id: Uuid,
    pub(crate) aud: String,
    pub(crate) role: String,
    pub(crate) email: String,
    pub(crate) phone: String,
    pub(crate) encrypted_password: String,
    pub(crate) email_confirmed_at: Option<DateTime<Utc>>,
    pub(crate) phone_confirmed_at: Option<DateTime<Utc>>,
    pub(crate) confirmed_at: Option<DateTime<Utc>>,
    pub(crate) invited_at: Option<DateTime<Utc>>,
    pub(crate) tokens: PendingTokens,
    pub(crate) email_change: String,
    pub(crate) phone_change: String,
    pub(crate) reauthentication_token: String,
    pub(crate) reauthentication_sent_at: Option<DateTime<Utc>>,
    pub(crate) last_sign_in_at: Option<DateTime<Utc>>,
    pub(crate) app_metadata: Value,
    pub(crate) user_metadata: Value,
    pub(crate) created_at: Option<DateTime<Utc>>,
    pub(crate) updated_at: Option<DateTime<Utc>>,
    pub(crate) banned_until: Option<DateTime<Utc>>,
    pub(crate) deleted_at: Option<DateTime<Utc>>,
    pub(crate) is_sso_user: bool,
    pub(crate) is_anonymous: bool,
    pub(crate) identities: Value,
    pub(crate) factors: Value,
}

impl User {
    /// Reads a row of `select_user.sql`.
    pub(crate) fn from_row(row: &Row) -> Result<Self, tokio_postgres::Error> {
        let email: String = row.try_get("email")?;
        Ok(Self {
            id: row.try_get("id")?,
            aud: row.try_get("aud")?,
            role: row.try_get("role")?,
            phone: row.try_get("phone")?,
            encrypted_password: row.try_get("encrypted_password")?,
            email_confirmed_at: row.try_get("email_confirmed_at")?,
            phone_confirmed_at: row.try_get("phone_confirmed_at")?,
            confirmed_at: row.try_get("confirmed_at")?,
            invited_at: row.try_get("invited_at")?,
            tokens: PendingTokens {
                confirmation: row.try_get("confirmation_token")?,
                confirmation_sent_at: row.try_get("confirmation_sent_at")?,
                recovery: row.try_get("recovery_token")?,
                recovery_sent_at: row.try_get("recovery_sent_at")?,
                email_change_new: row.try_get("email_change_token_new")?,
                email_change_current: row.try_get("email_change_token_current")?,
                email_change_sent_at: row.try_get("email_change_sent_at")?,
                email_change_status: row.try_get("email_change_confirm_status")?,
                has_email: !email.is_empty(),
                phone_change: row.try_get("phone_change_token")?,
                phone_change_sent_at: row.try_get("phone_change_sent_at")?,
            },
            email,
            email_change: row.try_get("email_change")?,
            phone_change: row.try_get("phone_change")?,
            reauthentication_token: row.try_get("reauthentication_token")?,
            reauthentication_sent_at: row.try_get("reauthentication_sent_at")?,
            last_sign_in_at: row.try_get("last_sign_in_at")?,
            app_metadata: row.try_get("raw_app_meta_data")?,
            user_metadata: row.try_get("raw_user_meta_data")?,
            created_at: row.try_get("created_at")?,
            updated_at: row.try_get("updated_at")?,
            banned_until: row.try_get("banned_until")?,
            deleted_at: row.try_get("deleted_at")?,
            is_sso_user: row.try_get("is_sso_user")?,
            is_anonymous: row.try_get("is_anonymous")?,
            identities: without_null(row.try_get("identities")?, &["email"]),
            factors: without_null(
                row.try_get("factors")?,
                &[
                    "friendly_name",
                    "web_authn_aaguid",
                    "last_webauthn_challenge_data",
                ],
            ),
        })
    }

    /// Whether the phone number is proven.
    pub(crate) fn is_phone_confirmed(&self) -> bool {
        self.phone_confirmed_at.is_some()
    }

    /// Whether the e-mail address is proven.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.email_confirmed_at.is_some()
    }

    /// Whether the user may not sign in at `now`.
    pub(crate) fn is_banned(&self, now: DateTime<Utc>) -> bool {
        self.banned_until.is_some_and(|until| until > now)
    }

    /// Whether a second factor is set up.
    pub(crate) fn has_verified_factor(&self) -> bool {
        self.factors
            .as_array()
            .is_some_and(|factors| factors.iter().any(|factor| factor["status"] == "verified"))
    }

    /// The user as clients see it.
    pub(crate) fn body(&self) -> Map<String, Value> {
        let mut body = Map::new();
        let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
        put("id", json!(self.id));
        put("aud", json!(self.aud));
        put("role", json!(self.role));
        put("email", json!(self.email));
        put("phone", json!(self.phone));
        put("app_metadata", self.app_metadata.clone());
        put("user_metadata", self.user_metadata.clone());
        put("identities", self.identities.clone());
        put("created_at", json!(self.created_at.map(timestamp)));
        put("updated_at", json!(self.updated_at.map(timestamp)));
        put("is_anonymous", json!(self.is_anonymous));
        if self.factors.as_array().is_some_and(|factors| !factors.is_empty()) {
            put("factors", self.factors.clone());
        }
        for (name, address) in [
            ("new_email", &self.email_change),
            ("new_phone", &self.phone_change),
        ] {
            if !address.is_empty() {
                put(name, json!(address));
            }
        }
        for (name, time) in self.times() {
            if let Some(time) = time {
                put(name, json!(timestamp(time)));
            }
        }
        body
    }

    /// The times that are left out while they are unset.
    fn times(&self) -> [(&'static str, Option<DateTime<Utc>>); 12] {
        [
            ("invited_at", self.invited_at),
            ("confirmation_sent_at", self.tokens.confirmation_sent_at),
            ("confirmed_at", self.confirmed_at),
            ("email_confirmed_at", self.email_confirmed_at),
            ("phone_confirmed_at", self.phone_confirmed_at),
            ("recovery_sent_at", self.tokens.recovery_sent_at),
            ("email_change_sent_at", self.tokens.email_change_sent_at),
            ("phone_change_sent_at", self.tokens.phone_change_sent_at),
            ("reauthentication_sent_at", self.reauthentication_sent_at),
            ("last_sign_in_at", self.last_sign_in_at),
            ("banned_until", self.banned_until),
            ("deleted_at", self.deleted_at),
        ]
    }
}

/// A time on the wire: RFC 3339 in UTC, with microseconds.
pub(crate) fn timestamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// Removes members that are null or empty; only the named ones, as metadata may hold nulls of its own.
fn without_null(mut list: Value, names: &[&str]) -> Value {
    for member in list
        .as_array_mut()
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        for name in names {
            if member
                .get(*name)
                .is_some_and(|value| value.is_null() || value == "")
            {
                member.shift_remove(*name);
            }
        }
    }
    list
}
