//! A user as stored, and as clients see it. Source: Auth contract §2.0.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::Json;
use uuid::Uuid;

use crate::store::factors::FactorType;

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
    pub(crate) identities: Vec<IdentityBody>,
    pub(crate) factors: Vec<FactorBody>,
}

/// Providers whose identities prove no address, whatever their rows say. Most verify none. Azure, Kakao and Zoom verify some; but
/// older versions, and the original, have stored of the others, too, that they are verified. What such a provider says of an
/// address today, at the sign-in, counts.
pub(crate) const STORED_PROOFS_ARE_NONE: [&str; 10] = [
    "azure", "figma", "fly", "kakao", "linkedin", "notion", "slack", "snapchat", "workos", "zoom",
];

/// Those of them that never say whether an address is verified.
pub(crate) const VERIFY_NOTHING: [&str; 7] = [
    "figma", "fly", "linkedin", "notion", "slack", "snapchat", "workos",
];

/// Why a user may not have a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignInRefusal {
    /// The user was deleted softly: only the row is left.
    Deleted,
    Banned,
    /// The user has not confirmed any address, and has never signed in.
    Unconfirmed,
}

/// The one-time tokens that a user has not used yet, and when they were sent. An empty one means that none is
/// pending.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingTokens {
    pub(crate) confirmation: String,
    pub(crate) confirmation_sent_at: Option<DateTime<Utc>>,
    pub(crate) recovery: String,
    pub(crate) recovery_sent_at: Option<DateTime<Utc>>,
    pub(crate) email_change_new: String,
    pub(crate) email_change_current: String,
    pub(crate) email_change_sent_at: Option<DateTime<Utc>>,
    /// 0: nothing is confirmed, 1: one of the two addresses is.
    pub(crate) email_change_status: i16,
    /// Whether the user has an address that is more than a claim, and that has to confirm a change, too.
    pub(crate) has_email: bool,
    pub(crate) phone_change: String,
    pub(crate) phone_change_sent_at: Option<DateTime<Utc>>,
}

impl User {
    /// Reads a row of `select_user.sql`.
    pub(crate) fn from_row(row: &Row) -> Result<Self, tokio_postgres::Error> {
        let email: String = row.try_get("email")?;
        let mut user = Self {
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
            identities: row.try_get::<_, Json<_>>("identities")?.0,
            factors: row.try_get::<_, Json<_>>("factors")?.0,
        };
        user.tokens.has_email &= !user.only_claims_email();
        Ok(user)
    }

    /// Whether the phone number is confirmed.
    pub(crate) fn is_phone_confirmed(&self) -> bool {
        self.phone_confirmed_at.is_some()
    }

    /// Whether the e-mail address is confirmed.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.email_confirmed_at.is_some()
    }

    /// The e-mail address, if it is confirmed: others may know the user by it.
    pub(crate) fn confirmed_email(&self) -> Option<&str> {
        Some(self.email.as_str()).filter(|email| self.is_confirmed() && !email.is_empty())
    }

    /// The phone number, if it is confirmed.
    pub(crate) fn confirmed_phone(&self) -> Option<&str> {
        Some(self.phone.as_str()).filter(|phone| self.is_phone_confirmed() && !phone.is_empty())
    }

    /// Whether the user may have a session at `now`. Asked whenever one begins, is refreshed or is used, whichever way the user
    /// has proven to be themselves.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn may_sign_in(&self, now: DateTime<Utc>) -> Result<(), SignInRefusal> {
        if self.deleted_at.is_some() {
            return Err(SignInRefusal::Deleted);
        }
        if self.is_banned(now) {
            return Err(SignInRefusal::Banned);
        }
        // Anonymous users and those of wallets have no address; the addresses of SSO users are their provider's matter. Whoever has
        // signed in before goes on by the same way, also when an administrator has given the account an address since: it is a
        // mere claim, and tokens do not name it.
        let has_address = !self.email.is_empty() || !self.phone.is_empty();
        let has_confirmed = self.is_confirmed() || self.is_phone_confirmed();
        let is_new = self.last_sign_in_at.is_none() && !self.is_anonymous;
        if has_address && !has_confirmed && is_new && !self.is_sso_user {
            return Err(SignInRefusal::Unconfirmed);
        }
        Ok(())
    }

    /// Whether the account is in use, but has not proven its e-mail address, neither by a mail nor at a provider. The address is
    /// a mere claim: it confirms nothing about this account, and whoever proves it gets an account of their own.
    pub(crate) fn only_claims_email(&self) -> bool {
        let is_used = self.last_sign_in_at.is_some() || self.is_anonymous || self.is_phone_confirmed();
        let address = self.email.to_lowercase();
        let has_proof = |identity: &IdentityBody| identity.has_proven(&address);
        !address.is_empty()
            && !self.is_confirmed()
            && is_used
            && !self.is_sso_user
            && !self.identities.iter().any(has_proof)
    }

    /// Like [`User::only_claims_email`], for the phone number.
    pub(crate) fn only_claims_phone(&self) -> bool {
        let is_used = self.last_sign_in_at.is_some() || self.is_anonymous || self.is_confirmed();
        !self.phone.is_empty() && !self.is_phone_confirmed() && is_used && !self.is_sso_user
    }

    /// Whether the user may not sign in at `now`.
    pub(crate) fn is_banned(&self, now: DateTime<Utc>) -> bool {
        self.banned_until.is_some_and(|until| until > now)
    }

    /// Whether a second factor is set up. Recovery codes of which none is left are none: nobody could sign in by them, not even to set up
    /// another factor.
    pub(crate) fn has_verified_factor(&self) -> bool {
        self.factors
            .iter()
            .any(|factor| factor.status == "verified" && !factor.is_exhausted)
    }

    /// The user without recovery codes among the factors, for clients that do not know this type.
    pub(crate) fn without_recovery_codes(mut self) -> Self {
        let is_known = |factor: &FactorBody| factor.factor_type != FactorType::RecoveryCode.as_str();
        self.factors.retain(is_known);
        self
    }

    /// Returns the user's JSON for clients.
    pub(crate) fn body(&self) -> UserBody<'_> {
        UserBody {
            id: self.id,
            aud: &self.aud,
            role: &self.role,
            email: &self.email,
            phone: &self.phone,
            app_metadata: &self.app_metadata,
            user_metadata: &self.user_metadata,
            identities: Some(&self.identities),
            created_at: self.created_at.map(format_timestamp),
            updated_at: self.updated_at.map(format_timestamp),
            is_anonymous: self.is_anonymous,
            factors: &self.factors,
            new_email: &self.email_change,
            new_phone: &self.phone_change,
            invited_at: self.invited_at.map(format_timestamp),
            confirmation_sent_at: self.tokens.confirmation_sent_at.map(format_timestamp),
            confirmed_at: self.confirmed_at.map(format_timestamp),
            email_confirmed_at: self.email_confirmed_at.map(format_timestamp),
            phone_confirmed_at: self.phone_confirmed_at.map(format_timestamp),
            recovery_sent_at: self.tokens.recovery_sent_at.map(format_timestamp),
            email_change_sent_at: self.tokens.email_change_sent_at.map(format_timestamp),
            phone_change_sent_at: self.tokens.phone_change_sent_at.map(format_timestamp),
            reauthentication_sent_at: self.reauthentication_sent_at.map(format_timestamp),
            last_sign_in_at: self.last_sign_in_at.map(format_timestamp),
            banned_until: self.banned_until.map(format_timestamp),
            deleted_at: self.deleted_at.map(format_timestamp),
        }
    }
}

/// The JSON of a user. Times are RFC 3339 in UTC; those that are unset are left out, except for the first two.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct UserBody<'a> {
    pub(crate) id: Uuid,
    pub(crate) aud: &'a str,
    pub(crate) role: &'a str,
    /// Empty where the user has none, never null.
    pub(crate) email: &'a str,
    /// Digits without `+`; empty where the user has none, never null.
    pub(crate) phone: &'a str,
    pub(crate) app_metadata: &'a Value,
    pub(crate) user_metadata: &'a Value,
    /// A list; null in lists of users.
    pub(crate) identities: Option<&'a [IdentityBody]>,
    pub(crate) created_at: Option<String>,
    pub(crate) updated_at: Option<String>,
    pub(crate) is_anonymous: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    factors: &'a [FactorBody],
    /// The address that the user has asked to change to.
    #[serde(skip_serializing_if = "str::is_empty")]
    new_email: &'a str,
    /// The number that the user has asked to change to, as digits without `+`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) new_phone: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    invited_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmation_sent_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email_confirmed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone_confirmed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery_sent_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email_change_sent_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone_change_sent_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reauthentication_sent_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_sign_in_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    banned_until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<String>,
}

impl UserBody<'_> {
    /// Compat: in lists of users `identities` is null, as upstream does not load them there.
    pub(crate) fn without_identities(self) -> Self {
        Self {
            identities: None,
            ..self
        }
    }
}

/// A time on the wire: RFC 3339 in UTC, with microseconds.
pub(crate) fn format_timestamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// An identity in the JSON of a user. Times are RFC 3339 in UTC; null when the row has none.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct IdentityBody {
    /// The id of the row, by which a user unlinks the identity.
    identity_id: Uuid,
    /// Compat: the user's id at the provider, not the id of the row.
    id: String,
    user_id: Uuid,
    /// What the provider said about the user.
    identity_data: Value,
    pub(crate) provider: String,
    last_sign_in_at: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
    /// Left out when the identity has no address.
    #[serde(skip_serializing_if = "is_empty_text")]
    email: Option<String>,
}

impl IdentityBody {
    /// Whether the provider has verified this address (in lowercase).
    fn has_proven(&self, address: &str) -> bool {
        self.provider != "phone"
            && !STORED_PROOFS_ARE_NONE.contains(&self.provider.as_str())
            && self.identity_data.get("email_verified") == Some(&Value::Bool(true))
            && self
                .email
                .as_deref()
                .is_some_and(|email| email.to_lowercase() == address)
    }
}

/// A second factor in the JSON of a user. Times are RFC 3339 in UTC; null when the row has none.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FactorBody {
    pub(crate) id: Uuid,
    created_at: Option<String>,
    updated_at: Option<String>,
    /// `verified` or `unverified`.
    status: String,
    /// Left out when the user chose none.
    #[serde(skip_serializing_if = "is_empty_text")]
    friendly_name: Option<String>,
    /// `totp`, `phone`, `webauthn` or `recovery_code`.
    factor_type: String,
    /// Whether these are recovery codes of which none is left.
    #[serde(skip_serializing)]
    is_exhausted: bool,
    /// Empty for other types than `phone`.
    phone: String,
    last_challenged_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    web_authn_aaguid: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_webauthn_challenge_data: Option<Value>,
}

/// Whether a text is missing or empty; such members are left out of responses.
fn is_empty_text(text: &Option<String>) -> bool {
    text.as_deref().unwrap_or_default().is_empty()
}
