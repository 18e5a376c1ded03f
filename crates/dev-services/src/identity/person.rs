//! An invented person who signs in, and the checks of what a developer enters about one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use url::Url;

/// Longest name, address and provider's id in bytes; the longest address is 254 (RFC 5321).
pub(super) const MAX_TEXT: usize = 254;
const MAX_URL: usize = 2048;

/// A fictional person. All providers have the same people, each under a different id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Person {
    /// Identifies the person on the pages and in the API.
    pub(super) id: String,
    pub(super) name: String,
    /// `None` for a person without an address.
    pub(super) email: Option<String>,
    pub(super) email_verified: bool,
    /// URL of the picture; `None` shows a drawn one with the initials.
    pub(super) picture: Option<String>,
    /// The person's id at each provider where they have signed in, by the provider's name.
    #[serde(default)]
    pub(super) ids: BTreeMap<String, String>,
}

/// The fields of a person as a developer or a test gives them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PersonFields {
    pub(super) name: String,
    pub(super) email: Option<String>,
    /// Default: true.
    pub(super) email_verified: Option<bool>,
    pub(super) picture: Option<String>,
    /// Ids at providers, by the provider's name. Missing ones are made up at the first sign-in.
    pub(super) ids: BTreeMap<String, String>,
}

/// A field that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct FieldError {
    pub(super) field: &'static str,
    pub(super) message: String,
}

impl FieldError {
    pub(super) fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self {
            field,
            message: message.into(),
        }
    }
}

impl PersonFields {
    /// Removes spaces around the texts and reads empty ones as missing.
    pub(super) fn normalize(mut self) -> Self {
        let filled = |text: Option<String>| {
            let text = text?.trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        self.name = self.name.trim().to_owned();
        self.email = filled(self.email);
        self.picture = filled(self.picture);
        self.ids.retain(|_, id| !id.trim().is_empty());
        self
    }

    /// Checks every field but the ids; the messages are shown beside them.
    pub(super) fn find_errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if self.name.is_empty() {
            errors.push(FieldError::new("name", "Enter a name."));
        } else if self.name.len() > MAX_TEXT {
            errors.push(FieldError::new("name", "The name is too long."));
        }
        if self.email.as_deref().is_some_and(|email| !is_address(email)) {
            errors.push(FieldError::new(
                "email",
                "Enter an e-mail address, such as ana@example.com.",
            ));
        }
        if self.picture.as_deref().is_some_and(|url| !is_web_url(url)) {
            errors.push(FieldError::new(
                "picture",
                "Enter a URL that begins with http:// or https://.",
            ));
        }
        errors
    }
}

impl Person {
    /// First part of the name, as providers with separate names return it.
    pub(super) fn given_name(&self) -> &str {
        self.name.split_once(' ').map_or(&self.name, |(given, _)| given)
    }

    /// The rest of the name; empty for a single word.
    pub(super) fn family_name(&self) -> &str {
        self.name.split_once(' ').map_or("", |(_, family)| family)
    }

    /// A user name made from the address or the name: lower-case letters, digits and underscores.
    pub(super) fn user_name(&self) -> String {
        let local = self.email.as_deref().and_then(|email| email.split('@').next());
        let word: String = local
            .unwrap_or(&self.name)
            .to_lowercase()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        if word.is_empty() {
            "someone".to_owned()
        } else {
            word
        }
    }

    /// The address, or an empty text.
    pub(super) fn address(&self) -> &str {
        self.email.as_deref().unwrap_or_default()
    }

    /// Up to two initials for the drawn picture.
    pub(super) fn initials(&self) -> String {
        let mut words = self.name.split_whitespace();
        let first = words.next().and_then(|word| word.chars().next());
        let last = words.next_back().and_then(|word| word.chars().next());
        first
            .into_iter()
            .chain(last)
            .flat_map(char::to_uppercase)
            .collect()
    }
}

fn is_address(text: &str) -> bool {
    text.len() <= MAX_TEXT
        && !text.chars().any(|c| c.is_whitespace() || c.is_control())
        && text.rsplit_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && domain.contains('.') && !domain.ends_with('.')
        })
}

fn is_web_url(text: &str) -> bool {
    text.len() <= MAX_URL
        && Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_no_provider_could_return_are_refused() {
        let fields = |change: fn(&mut PersonFields)| {
            let mut fields = PersonFields {
                name: " Ana Lind ".to_owned(),
                email: Some("ana@example.com".to_owned()),
                ..PersonFields::default()
            };
            change(&mut fields);
            let errors = fields.normalize().find_errors();
            errors.iter().map(|error| error.field).collect::<Vec<_>>()
        };

        assert!(fields(|_| {}).is_empty());
        assert!(fields(|fields| fields.email = Some("  ".to_owned())).is_empty());
        assert_eq!(fields(|fields| fields.name = " ".to_owned()), ["name"]);
        assert_eq!(fields(|fields| fields.email = Some("ana".to_owned())), ["email"]);
        assert_eq!(
            fields(|fields| fields.picture = Some("javascript:alert(1)".to_owned())),
            ["picture"]
        );
    }

    #[test]
    fn names_are_split_as_providers_with_two_fields_return_them() {
        let person = Person {
            id: String::new(),
            name: "Ana Maria Lind".to_owned(),
            email: Some("ana.lind@example.com".to_owned()),
            email_verified: true,
            picture: None,
            ids: BTreeMap::new(),
        };

        assert_eq!((person.given_name(), person.family_name()), ("Ana", "Maria Lind"));
        assert_eq!(
            (person.user_name().as_str(), person.initials().as_str()),
            ("ana_lind", "AL")
        );
    }
}
