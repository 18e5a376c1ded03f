//! The profile of a user at a provider, with the claim names of `auth.identities.identity_data`.
//!
//! [`super::named`] and [`super::id_token`] fill it; `flows::external_accounts` reads it. Source: Auth contract §8.1.

use serde_json::{Map, Value, json};

use super::json_fields::Fields;

/// Claims that keep their name in `identity_data`. Other claims of a provider are stored below `custom_claims`.
///
/// Compat: `full_name`, `avatar_url`, `slug` and `user_name` are older names that clients and triggers still read.
pub(super) const PROFILE_CLAIMS: [&str; 18] = [
    "name",
    "family_name",
    "given_name",
    "middle_name",
    "nickname",
    "preferred_username",
    "profile",
    "picture",
    "website",
    "gender",
    "birthdate",
    "zoneinfo",
    "locale",
    "phone",
    "full_name",
    "avatar_url",
    "slug",
    "user_name",
];

/// An e-mail address of the user, as the provider returns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderEmail {
    pub(crate) address: String,
    /// Whether the provider has verified the address. Only such an address links to an existing account.
    pub(crate) verified: bool,
    pub(crate) primary: bool,
}

/// Reads a list of addresses. `verified` and `primary` are the names of the boolean members, which differ between
/// providers; an entry without `email` is skipped.
pub(super) fn read_emails<'a>(
    entries: impl Iterator<Item = Fields<'a>>,
    verified: &str,
    primary: &str,
) -> Vec<ProviderEmail> {
    entries
        .filter(|entry| !entry.text("email").is_empty())
        .map(|entry| ProviderEmail {
            address: entry.text("email").to_owned(),
            verified: entry.is_true(verified),
            primary: entry.is_true(primary),
        })
        .collect()
}

/// A user as the provider describes them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profile {
    /// The user's id at the provider. Identities are found by it, because unlike an address it is never given to
    /// another user.
    pub(crate) subject: String,
    /// All addresses that the provider returned; [`Self::email`] chooses among them.
    pub(crate) emails: Vec<ProviderEmail>,
    /// Claims by the names of [`PROFILE_CLAIMS`], `iss` and `provider_id`; empty strings are left out.
    claims: Map<String, Value>,
    /// The members of `custom_claims`.
    custom: Map<String, Value>,
}

impl Profile {
    /// A profile with `iss`, `sub` and `provider_id`.
    pub(crate) fn new(issuer: &str, subject: impl Into<String>) -> Self {
        let subject = subject.into();
        let profile = Self::default()
            .with_claim("iss", issuer)
            .with_claim("provider_id", &subject);
        Self { subject, ..profile }
    }

    /// Adds a string claim; an empty string adds nothing.
    pub(crate) fn with_claim(mut self, name: &str, value: &str) -> Self {
        if !value.is_empty() {
            self.claims.insert(name.to_owned(), json!(value));
        }
        self
    }

    /// Adds a claim of any type; null adds nothing.
    pub(super) fn with_claim_value(mut self, name: &str, value: Value) -> Self {
        if !value.is_null() {
            self.claims.insert(name.to_owned(), value);
        }
        self
    }

    /// Adds the full name as `name` and `full_name`; clients read either.
    pub(crate) fn with_full_name(self, name: &str) -> Self {
        self.with_claim("name", name).with_claim("full_name", name)
    }

    /// Adds the URL of the picture as `picture` and `avatar_url`; clients read either.
    pub(super) fn with_picture(self, url: &str) -> Self {
        self.with_claim("picture", url).with_claim("avatar_url", url)
    }

    /// Adds a claim below `custom_claims`; null adds nothing.
    pub(crate) fn with_custom_claim(mut self, name: &str, value: Value) -> Self {
        if !value.is_null() {
            self.custom.insert(name.to_owned(), value);
        }
        self
    }

    /// Adds a string below `custom_claims`; an empty string adds nothing.
    pub(super) fn with_custom_text(self, name: &str, text: &str) -> Self {
        let value = if text.is_empty() { Value::Null } else { json!(text) };
        self.with_custom_claim(name, value)
    }

    /// Copies members of the provider's response below `custom_claims`; those that are missing are left out.
    pub(super) fn with_custom_claims(self, fields: Fields<'_>, names: &[&str]) -> Self {
        names.iter().fold(self, |profile, name| {
            profile.with_custom_claim(name, fields.value(name))
        })
    }

    /// Adds an address as the primary one; an empty string adds nothing.
    pub(super) fn with_email(mut self, address: &str, verified: bool) -> Self {
        if !address.is_empty() {
            self.emails.push(ProviderEmail {
                address: address.to_owned(),
                verified,
                primary: true,
            });
        }
        self
    }

    /// Adds the addresses of a provider that lists several.
    pub(super) fn with_emails(mut self, emails: Vec<ProviderEmail>) -> Self {
        self.emails.extend(emails);
        self
    }

    /// The address that the account gets: the primary one, else the last.
    pub(crate) fn email(&self) -> Option<&ProviderEmail> {
        self.emails
            .iter()
            .find(|email| email.primary)
            .or(self.emails.last())
    }

    /// The object that is stored with the identity and merged into the user's metadata. `sub`, `email_verified` and
    /// `phone_verified` are always present.
    pub(crate) fn identity_data(&self) -> Map<String, Value> {
        let mut data = self.claims.clone();
        data.insert("sub".to_owned(), json!(self.subject));
        if let Some(email) = self.email() {
            data.insert("email".to_owned(), json!(email.address));
        }
        let verified = self.email().is_some_and(|email| email.verified);
        data.insert("email_verified".to_owned(), json!(verified));
        data.entry("phone_verified").or_insert(json!(false));
        if !self.custom.is_empty() {
            data.insert("custom_claims".to_owned(), Value::Object(self.custom.clone()));
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_045_identity_data_has_the_claim_names_that_triggers_read() {
        let profile = Profile::new("https://accounts.google.com", "42")
            .with_full_name("Ana Lind")
            .with_picture("https://img.example/a.png")
            .with_claim("locale", "")
            .with_custom_claim("hd", json!("lind.example"))
            .with_email("Ana@Lind.example", true);

        assert_eq!(
            Value::Object(profile.identity_data()),
            json!({
                "iss": "https://accounts.google.com", "sub": "42", "provider_id": "42",
                "name": "Ana Lind", "full_name": "Ana Lind",
                "picture": "https://img.example/a.png", "avatar_url": "https://img.example/a.png",
                "email": "Ana@Lind.example", "email_verified": true, "phone_verified": false,
                "custom_claims": {"hd": "lind.example"},
            })
        );
    }
}
