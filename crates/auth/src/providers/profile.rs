//! What a provider says about somebody, in the one vocabulary of `identity_data`. Source: Auth contract §8.1.

use serde_json::{Map, Value, json};

/// Claims that have a place of their own in `identity_data`. A provider's other claims go below `custom_claims`.
pub(super) const VOCABULARY: [&str; 18] = [
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

/// An address as the provider knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderEmail {
    pub(crate) address: String,
    pub(crate) verified: bool,
    pub(crate) primary: bool,
}

/// Somebody, as the provider describes them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profile {
    /// Who they are to the provider: never reused for somebody else.
    pub(crate) subject: String,
    pub(crate) emails: Vec<ProviderEmail>,
    /// Everything else, by the names of the vocabulary; empty texts are not in it.
    claims: Map<String, Value>,
    custom: Map<String, Value>,
}

impl Profile {
    pub(crate) fn new(issuer: &str, subject: impl Into<String>) -> Self {
        let subject = subject.into();
        Self::default()
            .with("iss", issuer)
            .with("provider_id", &subject)
            .of(subject)
    }

    fn of(mut self, subject: String) -> Self {
        self.subject = subject;
        self
    }

    /// Adds a claim; an empty text adds nothing.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        if !value.is_empty() {
            self.claims.insert(name.to_owned(), json!(value));
        }
        self
    }

    /// Adds a claim as it stands; null adds nothing.
    pub(crate) fn with_value(mut self, name: &str, value: Value) -> Self {
        if !value.is_null() {
            self.claims.insert(name.to_owned(), value);
        }
        self
    }

    /// Full name, in both spellings that clients read.
    pub(super) fn named(self, name: &str) -> Self {
        self.with("name", name).with("full_name", name)
    }

    /// Picture, in both spellings that clients read.
    pub(super) fn pictured(self, url: &str) -> Self {
        self.with("picture", url).with("avatar_url", url)
    }

    /// Adds something that only this provider knows.
    pub(crate) fn custom(mut self, name: &str, value: Value) -> Self {
        if !value.is_null() {
            self.custom.insert(name.to_owned(), value);
        }
        self
    }

    /// Adds the one address of providers that have one; empty adds nothing.
    pub(super) fn mailed(mut self, address: &str, verified: bool) -> Self {
        if !address.is_empty() {
            self.emails.push(ProviderEmail {
                address: address.to_owned(),
                verified,
                primary: true,
            });
        }
        self
    }

    /// The address that stands for the person: the primary one, else the last.
    pub(crate) fn email(&self) -> Option<&ProviderEmail> {
        self.emails
            .iter()
            .find(|email| email.primary)
            .or(self.emails.last())
    }

    /// What is stored with the identity, and merged into the user's metadata.
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
    fn auth_045_identity_data_speaks_the_contracts_vocabulary() {
        let profile = Profile::new("https://accounts.google.com", "42")
            .named("Ana Lind")
            .pictured("https://img.example/a.png")
            .with("locale", "")
            .custom("hd", json!("lind.example"))
            .mailed("Ana@Lind.example", true);

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
