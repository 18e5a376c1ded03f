//! Rules that remove superseded versions after a time, as a bucket stores them. Source: STORE-230 to STORE-233.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Most rules of a bucket.
const MAX_RULES: usize = 1000;
/// Longest id of a rule, in characters.
const LONGEST_ID: usize = 255;
/// Most versions that a rule keeps whatever their age.
const MOST_KEPT: u64 = 100;
/// Longest time of a rule, in days.
const MOST_DAYS: u64 = 2_147_483_647;

/// Why rules are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct RuleError(String);

/// The rules of a bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LifecycleRules {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    status: &'static str,
    /// `{}`: rules hold for the whole bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<Map<String, Value>>,
    /// The empty text, an older way to say the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    legacy_prefix: Option<&'static str>,
    noncurrent_version_expiration: Expiration,
}

/// A version goes when it was superseded so many days ago, and so many newer noncurrent ones of its key exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Expiration {
    noncurrent_days: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    newer_noncurrent_versions: Option<u64>,
}

impl LifecycleRules {
    /// Reads `{rules: […]}`, and names the rules that have no id.
    ///
    /// # Errors
    /// `RuleError` for anything that no rule has, so that nothing is ignored which somebody relies on.
    pub(crate) fn read(body: &Value) -> Result<Self, RuleError> {
        let fields = only(body, "configuration", &["rules"])?;
        let listed = fields.get("rules").and_then(Value::as_array);
        let listed = listed.filter(|rules| (1..=MAX_RULES).contains(&rules.len()));
        let listed =
            listed.ok_or_else(|| refuse(&format!("rules must be a list of 1 to {MAX_RULES} rules")))?;
        let mut rules = listed.iter().map(Rule::read).collect::<Result<Vec<_>, _>>()?;
        name_rules(&mut rules)?;
        Ok(Self { rules })
    }

    /// Whether a stored configuration says the same, in whatever order.
    pub(crate) fn equals(&self, stored: &Value) -> bool {
        Self::read(stored).is_ok_and(|stored| sorted(&stored.rules) == sorted(&self.rules))
    }
}

fn sorted(rules: &[Rule]) -> Vec<String> {
    let mut texts: Vec<String> = rules.iter().map(|rule| json!(rule).to_string()).collect();
    texts.sort_unstable();
    texts
}

/// Gives ids to rules without one: a hash of what they say, and a number where that is taken.
fn name_rules(rules: &mut [Rule]) -> Result<(), RuleError> {
    let mut taken = HashSet::new();
    for rule in rules.iter().filter(|rule| !rule.id.is_empty()) {
        if !taken.insert(rule.id.clone()) {
            return Err(refuse("the id of a rule must be unique"));
        }
    }
    for rule in rules.iter_mut().filter(|rule| rule.id.is_empty()) {
        let hash = hex::encode(Sha256::digest(json!(rule).to_string()));
        let names = (1..).map(|number| match number {
            1 => format!("rule-{hash}"),
            number => format!("rule-{hash}-{number}"),
        });
        let mut free = names.skip_while(|name| taken.contains(name));
        rule.id = free.next().unwrap_or_default();
        taken.insert(rule.id.clone());
    }
    Ok(())
}

impl Rule {
    fn read(value: &Value) -> Result<Self, RuleError> {
        let names = [
            "id",
            "status",
            "filter",
            "legacyPrefix",
            "noncurrentVersionExpiration",
        ];
        let fields = only(value, "rule", &names)?;
        let status = match fields.get("status").and_then(Value::as_str) {
            Some("Enabled") => "Enabled",
            Some("Disabled") => "Disabled",
            _ => return Err(refuse("status of a rule must be Enabled or Disabled")),
        };
        let expiration = fields.get("noncurrentVersionExpiration").unwrap_or(&Value::Null);
        let rule = Self {
            id: read_id(fields.get("id"))?,
            status,
            filter: fields.get("filter").map(read_filter).transpose()?,
            legacy_prefix: fields.get("legacyPrefix").map(read_legacy_prefix).transpose()?,
            noncurrent_version_expiration: Expiration::read(expiration)?,
        };
        if rule.filter.is_some() == rule.legacy_prefix.is_some() {
            return Err(refuse("a rule must have either filter or legacyPrefix"));
        }
        let keeps = rule.noncurrent_version_expiration.newer_noncurrent_versions;
        if rule.legacy_prefix.is_some() && keeps.is_some() {
            return Err(refuse(
                "newerNoncurrentVersions needs filter in place of legacyPrefix",
            ));
        }
        Ok(rule)
    }
}

impl Expiration {
    fn read(value: &Value) -> Result<Self, RuleError> {
        let names = ["noncurrentDays", "newerNoncurrentVersions"];
        let fields = only(value, "noncurrentVersionExpiration", &names)?;
        let days = fields.get("noncurrentDays").unwrap_or(&Value::Null);
        let kept = fields.get("newerNoncurrentVersions");
        Ok(Self {
            noncurrent_days: read_number(days, "noncurrentDays", MOST_DAYS)?,
            newer_noncurrent_versions: kept
                .map(|kept| read_number(kept, "newerNoncurrentVersions", MOST_KEPT))
                .transpose()?,
        })
    }
}

/// The members of an object that has no others than these.
fn only<'v>(value: &'v Value, what: &str, names: &[&str]) -> Result<&'v Map<String, Value>, RuleError> {
    let fields = value
        .as_object()
        .ok_or_else(|| refuse(&format!("{what} must be an object")))?;
    match fields.keys().find(|name| !names.contains(&name.as_str())) {
        Some(_) => Err(refuse(&format!("{what} has a property that is not supported"))),
        None => Ok(fields),
    }
}

fn read_id(value: Option<&Value>) -> Result<String, RuleError> {
    match value {
        None => Ok(String::new()),
        Some(Value::String(id)) if (1..=LONGEST_ID).contains(&id.chars().count()) => Ok(id.clone()),
        Some(_) => Err(refuse(&format!(
            "id of a rule must have 1 to {LONGEST_ID} characters"
        ))),
    }
}

fn read_filter(value: &Value) -> Result<Map<String, Value>, RuleError> {
    let fields = only(value, "filter", &["prefix"])?;
    let is_whole_bucket = fields.values().all(|prefix| prefix.as_str() == Some(""));
    match is_whole_bucket {
        true => Ok(Map::new()),
        false => Err(refuse("filter must be empty: a rule holds for the whole bucket")),
    }
}

fn read_legacy_prefix(value: &Value) -> Result<&'static str, RuleError> {
    match value.as_str() {
        Some("") => Ok(""),
        _ => Err(refuse(
            "legacyPrefix must be empty: a rule holds for the whole bucket",
        )),
    }
}

/// A whole number, which clients may write as a text.
fn read_number(value: &Value, name: &str, most: u64) -> Result<u64, RuleError> {
    let number = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    };
    number
        .filter(|number| (1..=most).contains(number))
        .ok_or_else(|| refuse(&format!("{name} must be a whole number from 1 to {most}")))
}

fn refuse(text: &str) -> RuleError {
    RuleError(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(more: Value) -> Value {
        let mut rule =
            json!({"status": "Enabled", "filter": {}, "noncurrentVersionExpiration": {"noncurrentDays": 30}});
        for (name, value) in more.as_object().expect("an object") {
            rule[name] = value.clone();
        }
        rule
    }

    fn read(rules: &[Value]) -> Result<Value, RuleError> {
        LifecycleRules::read(&json!({ "rules": rules })).map(|rules| json!(rules))
    }

    #[test]
    fn store_232_rules_say_nothing_that_would_be_ignored() {
        let expiring = |fields: Value| rule(json!({ "noncurrentVersionExpiration": fields }));
        for bad in [
            json!({}),
            rule(json!({"status": "enabled"})),
            rule(json!({"filter": {"prefix": "logs/"}})),
            rule(json!({"filter": {"tag": {}}})),
            rule(json!({"legacyPrefix": ""})),
            rule(json!({"expiration": {"days": 1}})),
            rule(json!({"id": ""})),
            rule(json!({"id": "x".repeat(256)})),
            expiring(json!({})),
            expiring(json!({"noncurrentDays": 0})),
            expiring(json!({"noncurrentDays": 1.5})),
            expiring(json!({"noncurrentDays": "-1"})),
            expiring(json!({"noncurrentDays": 1, "newerNoncurrentVersions": 101})),
            expiring(json!({"noncurrentDays": 1, "storageClass": "COLD"})),
        ] {
            assert!(read(std::slice::from_ref(&bad)).is_err(), "{bad}");
        }
        assert!(read(&[]).is_err());
        assert!(read(&vec![rule(json!({})); MAX_RULES + 1]).is_err());
        assert!(read(&[rule(json!({"id": "a"})), rule(json!({"id": "a"}))]).is_err());
        assert!(LifecycleRules::read(&json!({"rules": [rule(json!({}))], "more": 1})).is_err());
        let mut legacy = rule(json!({"legacyPrefix": ""}));
        legacy.as_object_mut().expect("an object").remove("filter");
        let stored = read(&[legacy]).expect("a rule");
        assert_eq!(stored["rules"][0]["legacyPrefix"], "");
        let text = read(&[expiring(
            json!({"noncurrentDays": "7", "newerNoncurrentVersions": "3"}),
        )]);
        let stored = &text.expect("a rule")["rules"][0]["noncurrentVersionExpiration"];
        assert_eq!(
            *stored,
            json!({"noncurrentDays": 7, "newerNoncurrentVersions": 3})
        );
    }

    #[test]
    fn store_233_rules_without_an_id_are_named_by_what_they_say() {
        let rules = read(&vec![rule(json!({})); MAX_RULES]).expect("rules");
        let ids: HashSet<&str> = rules["rules"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|rule| rule["id"].as_str())
            .collect();
        assert_eq!(ids.len(), MAX_RULES);
        assert!(ids.iter().all(|id| id.starts_with("rule-")));

        let (one, other) = (
            rule(json!({"id": "a"})),
            rule(json!({"id": "b", "status": "Disabled"})),
        );
        let rules = LifecycleRules::read(&json!({"rules": [one, other]})).expect("rules");
        assert!(rules.equals(&json!({"rules": [other, one]})));
        assert!(!rules.equals(&json!({"rules": [one]})));
        assert!(!rules.equals(&Value::Null));
    }
}
