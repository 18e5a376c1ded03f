//! What an administrator says about a custom provider's claims: which are kept, and under which name.

use serde_json::{Map, Value};

use super::id_token::is_true;
use super::profile::{Profile, ProviderEmail, VOCABULARY};
use crate::store::custom_providers::CustomProvider;

/// `custom_claims_allowlist` and `attribute_mapping` of a provider.
#[derive(Debug, Clone)]
pub(crate) struct Mapping {
    allowed: Vec<String>,
    attributes: Map<String, Value>,
}

impl Mapping {
    pub(super) fn of(custom: &CustomProvider) -> Self {
        Self {
            allowed: custom.custom_claims_allowlist.clone(),
            attributes: custom.attribute_mapping.as_object().cloned().unwrap_or_default(),
        }
    }

    /// Keeps the allowed claims, then renames. A mapped text names the claim that is copied; anything else is the value itself.
    pub(super) fn apply(&self, mut profile: Profile, claims: &Map<String, Value>) -> Profile {
        for name in &self.allowed {
            if let Some(value) = claims.get(name) {
                profile = profile.custom(name, value.clone());
            }
        }
        let known = profile.identity_data();
        for (target, source) in &self.attributes {
            let value = match source {
                Value::String(name) => known.get(name).or_else(|| claims.get(name)).cloned(),
                other => Some(other.clone()),
            };
            if let Some(value) = value {
                profile = set(profile, target, value, is_true(claims.get("email_verified")));
            }
        }
        profile
    }
}

/// Sets one member. Whether an address is proven is for the provider to say: what it said of its own `email` does not hold for
/// another claim that is mapped over it.
fn set(mut profile: Profile, target: &str, value: Value, is_proven: bool) -> Profile {
    let text = value.as_str().unwrap_or_default().to_owned();
    match target {
        "sub" if !text.is_empty() => profile.subject = text,
        "email" if !text.is_empty() => {
            let is_same = profile.email().is_some_and(|email| email.address == text);
            if !is_same {
                let verified = is_proven && profile.emails.is_empty();
                profile.emails = vec![ProviderEmail {
                    address: text,
                    verified,
                    primary: true,
                }];
            }
        }
        name if VOCABULARY.contains(&name) || name == "provider_id" => {
            return profile.with_value(name, value);
        }
        _ => {}
    }
    profile
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mapping_renames_and_cannot_prove_an_address() {
        let mapping = Mapping {
            allowed: vec!["department".to_owned()],
            attributes: json!({"full_name": "name", "email": "upn", "email_verified": true, "locale": "sub"})
                .as_object()
                .cloned()
                .unwrap_or_default(),
        };
        let claims = json!({"sub": "1", "upn": "victim@example.com", "department": "looms", "salary": 1});
        let profile = Profile::new("https://id.example", "1").with("name", "Ana");

        let data = mapping
            .apply(profile, claims.as_object().expect("an object"))
            .identity_data();

        assert_eq!(
            (&data["full_name"], &data["locale"]),
            (&json!("Ana"), &json!("1"))
        );
        assert_eq!(data["email"], "victim@example.com");
        assert_eq!(data["email_verified"], false);
        assert_eq!(data["custom_claims"], json!({"department": "looms"}));
    }
}
