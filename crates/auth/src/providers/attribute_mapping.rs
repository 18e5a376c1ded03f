//! Applies an administrator's rules to the claims of a custom provider: which claims are kept, and under which names.
//!
//! Runs on every sign-in with a custom provider, after its claims were read into a [`Profile`]. The rules themselves
//! are checked when the provider is saved (`api::admin_custom_providers`), not here.

use serde_json::{Map, Value};

use super::profile::{PROFILE_CLAIMS, Profile, ProviderEmail};
use crate::store::custom_providers::CustomProvider;

/// The rules of one custom provider.
#[derive(Debug, Clone)]
pub(super) struct AttributeMapping {
    /// `custom_claims_allowlist`: names of claims that are copied below `custom_claims`.
    allowed: Vec<String>,
    /// `attribute_mapping`: member of the profile → name of the claim to copy (a string), or a fixed value (any other
    /// type).
    attributes: Map<String, Value>,
}

impl AttributeMapping {
    /// Reads both columns; a mapping that is not an object counts as empty.
    pub(super) fn from_custom(custom: &CustomProvider) -> Self {
        Self {
            allowed: custom.custom_claims_allowlist.clone(),
            attributes: custom.attribute_mapping.as_object().cloned().unwrap_or_default(),
        }
    }

    /// Copies the allowed claims, then sets the mapped members of the profile.
    ///
    /// A string in the mapping names the claim that is copied, and a claim that is missing changes nothing; any other
    /// JSON value is stored as it is.
    pub(super) fn apply_to(&self, mut profile: Profile, claims: &Map<String, Value>) -> Profile {
        for name in &self.allowed {
            if let Some(value) = claims.get(name) {
                profile = profile.with_custom_claim(name, value.clone());
            }
        }
        // Sources are read from the profile as it was before the first rule, so that the result does not depend on the
        // order of the rules.
        let known = profile.identity_data();
        for (target, source) in &self.attributes {
            let value = match source {
                Value::String(name) => known.get(name).or_else(|| claims.get(name)).cloned(),
                other => Some(other.clone()),
            };
            if let Some(value) = value {
                profile = set_attribute(profile, target, value);
            }
        }
        profile
    }
}

/// Sets one member of the profile. Targets other than `sub`, `email`, `provider_id` and [`PROFILE_CLAIMS`] are ignored.
///
/// `email_verified` describes the provider's own `email` claim. An address that is copied from another claim therefore
/// counts as unverified, whatever that member says: users may be able to edit the other claim, and a verified address
/// gives access to the account that has it.
fn set_attribute(mut profile: Profile, target: &str, value: Value) -> Profile {
    let text = value.as_str().unwrap_or_default().to_owned();
    match target {
        "sub" if !text.is_empty() => profile.subject = text,
        "email" if !text.is_empty() => {
            let is_same = profile.email().is_some_and(|email| email.address == text);
            if !is_same {
                profile.emails = vec![ProviderEmail {
                    address: text,
                    verified: false,
                    primary: true,
                }];
            }
        }
        name if PROFILE_CLAIMS.contains(&name) || name == "provider_id" => {
            return profile.with_claim_value(name, value);
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
    fn mapping_copies_claims_and_leaves_a_mapped_email_unverified() {
        let mapping = AttributeMapping {
            allowed: vec!["department".to_owned()],
            attributes: json!({"full_name": "name", "email": "upn", "email_verified": true, "locale": "sub"})
                .as_object()
                .cloned()
                .unwrap_or_default(),
        };
        let claims = json!({
            "sub": "1", "upn": "victim@example.com", "email_verified": true, "department": "looms", "salary": 1,
        });
        let profile = Profile::new("https://id.example", "1").with_claim("name", "Ana");

        let data = mapping
            .apply_to(profile, claims.as_object().expect("an object"))
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
