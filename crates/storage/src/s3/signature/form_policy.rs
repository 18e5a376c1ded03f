//! Forms that a browser posts directly to a bucket. The policy in the form restricts the upload, and the signature covers
//! the policy.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use serde_json::Value;
use subtle::ConstantTimeEq;

use super::credentials::find_credentials;
use super::key::{ALGORITHM, Scope, SigningKey};
use crate::identity::Identity;
use crate::s3::error::S3Error;
use crate::state::Storage;

/// Fields of the signature itself, which a policy need not cover.
const SIGNATURE_FIELDS: [&str; 6] = [
    "policy",
    "x-amz-algorithm",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-security-token",
    "x-amz-signature",
];

/// The text fields of a form, their names in lower case.
#[derive(Debug, Default)]
pub(crate) struct FormFields(Vec<(String, String)>);

impl FormFields {
    /// Adds a field; false when the form has one of this name already, in any case. Then the policy could judge one of them
    /// and the upload use the other.
    #[must_use]
    pub(crate) fn push(&mut self, name: &str, value: String) -> bool {
        let is_new = self.get(&name.to_ascii_lowercase()).is_none();
        self.0.push((name.to_ascii_lowercase(), value));
        is_new
    }

    /// The value of a form field.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_str())
    }

    /// Number of fields.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Names and values of all fields, in the order of the form.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// A form with a valid signature, whose fields the policy allows.
pub(crate) struct AllowedForm {
    pub(crate) identity: Identity,
    /// Least and most bytes of the file, if the policy limits them.
    pub(crate) length: Option<(u64, u64)>,
}

/// Verifies the form of an upload to a bucket. In `key`, `${filename}` must be replaced already.
///
/// # Errors
/// `MissingSignature`, `SignatureDoesNotMatch`, `ExpiredToken`, `AccessDenied` for what the policy does not allow.
pub(crate) fn verify_form(
    storage: &Storage,
    bucket: &str,
    key: &str,
    fields: &FormFields,
) -> Result<AllowedForm, S3Error> {
    let (Some(policy), Some(signature)) = (fields.get("policy"), fields.get("x-amz-signature")) else {
        return Err(S3Error::MissingSignature);
    };
    if fields
        .get("x-amz-algorithm")
        .is_some_and(|name| name != ALGORITHM)
    {
        return Err(S3Error::MalformedSignature("Invalid x-amz-algorithm"));
    }
    let credential = fields
        .get("x-amz-credential")
        .ok_or(S3Error::MalformedSignature("Invalid credentials format"))?;
    let scope = Scope::parse(credential)?;
    let credentials = find_credentials(storage, &scope.access_key, fields.get("x-amz-security-token"))?;
    // The signature covers the base64 text of the policy, so it is verified before the policy is decoded.
    let is_right = credentials.secrets.iter().any(|secret| {
        let expected = SigningKey::derive(secret, &scope).sign(policy.as_bytes());
        bool::from(expected.as_bytes().ct_eq(signature.as_bytes()))
    });
    if !is_right {
        return Err(S3Error::SignatureDoesNotMatch);
    }
    let policy = STANDARD
        .decode(policy)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .ok_or_else(|| policy_denied("Invalid Policy: Invalid JSON."))?;
    let length = check_policy(&policy, bucket, key, fields, Utc::now())?;
    Ok(AllowedForm {
        identity: credentials.identity(storage)?,
        length,
    })
}

fn policy_denied(text: &str) -> S3Error {
    S3Error::AccessDenied(text.to_owned())
}

/// Checks expiration and conditions of a policy; returns the allowed size of the file.
///
/// # Errors
/// `ExpiredToken`, `AccessDenied`.
fn check_policy(
    policy: &Value,
    bucket: &str,
    key: &str,
    fields: &FormFields,
    now: DateTime<Utc>,
) -> Result<Option<(u64, u64)>, S3Error> {
    let expiration = policy["expiration"]
        .as_str()
        .and_then(|text| DateTime::parse_from_rfc3339(text).ok())
        .ok_or_else(|| policy_denied("Invalid Policy: Policy missing expiration."))?;
    if expiration <= now {
        return Err(S3Error::ExpiredToken);
    }
    let conditions = policy["conditions"]
        .as_array()
        .ok_or_else(|| policy_denied("Invalid Policy: Policy missing conditions."))?;
    let submitted = |name: &str| match name {
        "bucket" => Some(bucket),
        "key" => Some(key),
        name => fields.get(name),
    };
    let (mut covered, mut length) = (Vec::new(), None);
    for condition in conditions {
        for condition in Condition::parse(condition)? {
            if let Condition::Length(least, most) = condition {
                length = Some(narrow_range(length, (least, most)));
                continue;
            }
            let (Condition::Equals(name, _) | Condition::StartsWith(name, _)) = &condition else {
                continue;
            };
            if !condition.allows(submitted(name)) {
                return Err(policy_denied(&format!(
                    "Invalid according to Policy: Policy Condition failed: \"${name}\""
                )));
            }
            covered.push(name.clone());
        }
    }
    // A policy without a bucket would be good for every bucket of the project.
    if !covered.iter().any(|name| name == "bucket") {
        return Err(policy_denied(
            "Invalid according to Policy: Extra input fields: bucket",
        ));
    }
    check_coverage(fields, &covered)?;
    Ok(length)
}

/// The sizes that are in both ranges, as a policy may have several.
fn narrow_range(known: Option<(u64, u64)>, (least, most): (u64, u64)) -> (u64, u64) {
    let (low, high) = known.unwrap_or((0, u64::MAX));
    (least.max(low), most.min(high))
}

/// As in S3 every field must be covered by a condition. Otherwise the uploader could add fields that the signer never allowed.
fn check_coverage(fields: &FormFields, covered: &[String]) -> Result<(), S3Error> {
    let is_allowed = |name: &str| {
        SIGNATURE_FIELDS.contains(&name) || name.starts_with("x-ignore-") || covered.iter().any(|c| c == name)
    };
    if let Some((name, _)) = fields.iter().find(|(name, _)| !is_allowed(name)) {
        return Err(policy_denied(&format!(
            "Invalid according to Policy: Extra input fields: {name}"
        )));
    }
    Ok(())
}

/// A condition of a policy: names are in lower case.
enum Condition {
    Equals(String, String),
    StartsWith(String, String),
    Length(u64, u64),
}

impl Condition {
    /// `{"name": "value"}`, `["eq" | "starts-with", "$name", "value"]` or `["content-length-range", least, most]`.
    fn parse(condition: &Value) -> Result<Vec<Self>, S3Error> {
        let invalid = || policy_denied("Invalid Policy: Invalid Condition.");
        if let Some(object) = condition.as_object() {
            return object
                .iter()
                .map(|(name, value)| {
                    let value = value.as_str().ok_or_else(invalid)?;
                    Ok(Self::Equals(name.to_ascii_lowercase(), value.to_owned()))
                })
                .collect();
        }
        let Some([operator, name, value]) = condition.as_array().map(Vec::as_slice) else {
            return Err(invalid());
        };
        let operator = operator.as_str().unwrap_or_default().to_ascii_lowercase();
        if operator == "content-length-range" {
            let bytes = |value: &Value| {
                value
                    .as_u64()
                    .or_else(|| value.as_str()?.parse().ok())
                    .ok_or_else(invalid)
            };
            return Ok(vec![Self::Length(bytes(name)?, bytes(value)?)]);
        }
        let name = name
            .as_str()
            .and_then(|name| name.strip_prefix('$'))
            .ok_or_else(invalid)?
            .to_ascii_lowercase();
        let value = value.as_str().ok_or_else(invalid)?.to_owned();
        match operator.as_str() {
            "eq" => Ok(vec![Self::Equals(name, value)]),
            "starts-with" => Ok(vec![Self::StartsWith(name, value)]),
            _ => Err(invalid()),
        }
    }

    /// Whether the submitted value of the condition's field fulfils it.
    fn allows(&self, submitted: Option<&str>) -> bool {
        match self {
            Self::Equals(_, value) => submitted == Some(value),
            // A missing field counts as empty, which only the empty prefix allows.
            Self::StartsWith(_, start) => submitted.unwrap_or_default().starts_with(start.as_str()),
            Self::Length(..) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn try_policy(policy: &Value, fields: &[(&str, &str)]) -> Result<Option<(u64, u64)>, S3Error> {
        let mut form = FormFields::default();
        for (name, value) in fields {
            assert!(form.push(name, (*value).to_owned()), "{name}");
        }
        let key = form.get("key").unwrap_or_default().to_owned();
        check_policy(policy, "b", &key, &form, Utc::now())
    }

    #[test]
    fn store_097_a_form_policy_must_name_the_bucket() {
        let policy =
            |conditions: Value| json!({"expiration": "2999-01-01T00:00:00Z", "conditions": conditions});
        let key = json!(["starts-with", "$key", ""]);
        let form = [("key", "x")];

        assert!(try_policy(&policy(json!([key, {"bucket": "b"}])), &form).is_ok());
        assert!(try_policy(&policy(json!([key, ["starts-with", "$bucket", ""]])), &form).is_ok());
        assert!(try_policy(&policy(json!([key])), &form).is_err());
        assert!(try_policy(&policy(json!([key, {"bucket": "other"}])), &form).is_err());
    }

    #[test]
    fn store_097_a_form_field_has_one_value() {
        let mut form = FormFields::default();

        assert!(form.push("x-amz-meta-approved", "no".to_owned()));
        assert!(!form.push("X-Amz-Meta-Approved", "yes".to_owned()));
    }

    #[test]
    fn store_097_a_form_policy_must_cover_every_field() {
        let policy = json!({"expiration": "2999-01-01T00:00:00Z", "conditions": [
            {"bucket": "b"}, ["starts-with", "$key", "me/"], ["eq", "$Content-Type", "image/png"],
            ["content-length-range", 1, "10"],
        ]});
        let good = [("key", "me/x"), ("Content-Type", "image/png")];

        assert_eq!(try_policy(&policy, &good).expect("allowed"), Some((1, 10)));
        let ignored = [good.as_slice(), &[("x-ignore-me", "x"), ("policy", "p")]].concat();
        assert!(try_policy(&policy, &ignored).is_ok());
        for bad in [
            vec![("key", "you/x"), ("Content-Type", "image/png")],
            vec![("key", "me/x"), ("Content-Type", "text/html")],
            vec![("key", "me/x")],
            [good.as_slice(), &[("acl", "public-read")]].concat(),
        ] {
            assert!(try_policy(&policy, &bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn store_097_expired_and_malformed_form_policies_are_refused() {
        let fields = [("key", "x")];
        for bad in [
            json!({"conditions": []}),
            json!({"expiration": "2001-01-01T00:00:00Z", "conditions": [["starts-with", "$key", ""]]}),
            json!({"expiration": "2999-01-01T00:00:00Z"}),
            json!({"expiration": "2999-01-01T00:00:00Z", "conditions": [["like", "$key", ""]]}),
            json!({"expiration": "2999-01-01T00:00:00Z", "conditions": [["eq", "key", "x"]]}),
            json!({"expiration": "2999-01-01T00:00:00Z", "conditions": [{"bucket": "other"}, {"key": "x"}]}),
        ] {
            assert!(try_policy(&bad, &fields).is_err(), "{bad}");
        }
    }
}
