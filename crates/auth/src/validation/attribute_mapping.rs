//! A SAML provider's `attribute_mapping`: which attribute becomes which claim of a user. Source: SAML contract §6, §7.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The mapping, by the name of the claim.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SamlAttributeMapping {
    /// `None` when a request does not say, which leaves a stored mapping as it is.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(crate) keys: Option<Map<String, Value>>,
}

/// Compat: a mapping without claims is written as `{}`.
fn is_empty(keys: &Option<Map<String, Value>>) -> bool {
    keys.as_ref().is_none_or(Map::is_empty)
}

/// How one claim is found.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SamlClaimMapping {
    /// The attribute that is looked for first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Attributes that are looked for next, in this order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) names: Option<Vec<String>>,
    /// The value where no attribute has one.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) default: Value,
    /// Whether the claim is the list of all values instead of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) array: Option<bool>,
}

impl SamlAttributeMapping {
    /// Reads the mapping of each claim and writes it again, which drops unknown members.
    ///
    /// # Errors
    /// The parser's message, for a claim whose mapping has another type.
    pub(crate) fn normalize(self) -> Result<Self, serde_json::Error> {
        let Some(keys) = self.keys else { return Ok(self) };
        let normalize = |(claim, value): (String, Value)| {
            let mapping: SamlClaimMapping = serde_json::from_value(value)?;
            Ok((claim, serde_json::to_value(mapping)?))
        };
        let keys: Result<_, serde_json::Error> = keys.into_iter().map(normalize).collect();
        Ok(Self { keys: Some(keys?) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn saml_007_a_mapping_keeps_only_what_it_may_have() {
        let normalize = |value: Value| {
            let mapping: SamlAttributeMapping = serde_json::from_value(value).ok()?;
            serde_json::to_value(mapping.normalize().ok()?).ok()
        };
        let full = json!({"keys": {"a": {"name": "x"}, "b": {"names": ["y"], "default": {"c": null}, "array": true}}});
        assert_eq!(normalize(full.clone()), Some(full));
        assert_eq!(
            normalize(json!({"keys": {"a": {"name": "x", "more": 1}}})),
            Some(json!({"keys": {"a": {"name": "x"}}}))
        );
        assert_eq!(normalize(json!({"keys": {}})), Some(json!({})));
        assert_eq!(normalize(json!({"keys": {"a": "b"}})), None);
        assert_eq!(normalize(json!({"keys": {"a": {"names": "b"}}})), None);
    }
}
