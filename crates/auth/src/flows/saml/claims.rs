//! From what an assertion says to the identity of a user: the subject, the e-mail address, and the claims that the
//! provider's attribute mapping chooses. Source: SAML contract §6.

use selvedge_saml::{AttributeValues, Claims, name_id_format};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::{AuthError, SamlError};
use crate::validation::address::parse_email;
use crate::validation::attribute_mapping::{SamlAttributeMapping, SamlClaimMapping};

/// Attribute that names a user for good (SAML V2.0 Subject Identifier Attributes Profile).
const SUBJECT_ID: &str = "urn:oasis:names:tc:SAML:attribute:subject-id";
/// Attributes that hold an e-mail address where no mapping says which one does, best first.
const EMAIL_ATTRIBUTES: [&str; 5] = [
    "urn:oid:0.9.2342.19200300.100.1.3",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
    "http://schemas.xmlsoap.org/claims/EmailAddress",
    "mail",
    "email",
];

/// Claims that are texts and stand at the top of the identity data; all that are not known are in `custom_claims`.
const TEXT_CLAIMS: [&str; 19] = [
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
    "provider_id",
    "user_name",
];

/// The identity of a user at a SAML provider.
#[derive(Debug)]
pub(crate) struct SamlIdentity {
    pub(crate) subject: String,
    /// The e-mail address, in the form in which addresses are stored.
    pub(crate) email: String,
    /// `identity_data`, which also becomes the user's metadata.
    pub(crate) data: Map<String, Value>,
}

/// Reads the identity.
///
/// # Errors
/// 400 `saml_assertion_no_user_id` or `saml_assertion_no_email`; 500 for a mapped claim of a wrong type.
pub(crate) fn read_identity(
    claims: &Claims,
    entity_id: &str,
    mapping: &Value,
) -> Result<SamlIdentity, AuthError> {
    let subject = find_subject(claims).ok_or(SamlError::NoUserId)?;
    let mapped = map_attributes(&claims.attributes, mapping);
    let email = find_email(claims, &mapped).ok_or(SamlError::NoEmail)?;
    let email = parse_email(email.trim()).map_err(|_| SamlError::NoEmail)?;
    let mut data = build_identity_data(mapped)?;
    data.insert("sub".to_owned(), json!(subject));
    data.insert("iss".to_owned(), json!(entity_id));
    data.insert("email".to_owned(), json!(email));
    Ok(SamlIdentity { subject, email, data })
}

/// The name by which the user is known for good; `None` when there is none, or one that changes at each sign-in.
fn find_subject(claims: &Claims) -> Option<String> {
    // The attribute wins over the NameID, because some providers send a transient NameID beside it.
    let attribute = claims
        .attributes
        .iter()
        .find(|attribute| attribute.name == SUBJECT_ID && !attribute.values.is_empty());
    if let Some(attribute) = attribute {
        return attribute
            .values
            .first()
            .filter(|value| !value.is_empty())
            .cloned();
    }
    let name_id = claims.name_id.as_ref()?;
    let subject = match name_id.format.as_str() {
        name_id_format::TRANSIENT => return None,
        name_id_format::EMAIL_ADDRESS => name_id.value.trim().to_lowercase(),
        _ => name_id.value.clone(),
    };
    (!subject.is_empty()).then_some(subject)
}

/// The values of all attributes of this name, in any case, that are not empty.
fn find_values(attributes: &[AttributeValues], name: &str) -> Vec<String> {
    let name = name.to_lowercase();
    let is_named = |attribute: &&AttributeValues| {
        attribute.name.to_lowercase() == name || attribute.friendly_name.to_lowercase() == name
    };
    let values = attributes
        .iter()
        .filter(is_named)
        .flat_map(|attribute| &attribute.values);
    values.filter(|value| !value.is_empty()).cloned().collect()
}

/// The claims that the mapping chooses.
fn map_attributes(attributes: &[AttributeValues], mapping: &Value) -> Map<String, Value> {
    let mapping = SamlAttributeMapping::deserialize(mapping).unwrap_or_default();
    let mut mapped = Map::new();
    for (claim, how) in mapping.keys.into_iter().flatten() {
        let how = SamlClaimMapping::deserialize(how).unwrap_or_default();
        let names = how.name.iter().chain(how.names.iter().flatten());
        let found = names
            .filter(|name| !name.is_empty())
            .map(|name| find_values(attributes, name))
            .find(|values| !values.is_empty());
        let value = match found {
            Some(values) if how.array == Some(true) => json!(values),
            Some(mut values) => json!(values.swap_remove(0)),
            None => how.default,
        };
        if !value.is_null() {
            mapped.insert(claim, value);
        }
    }
    mapped
}

fn find_email(claims: &Claims, mapped: &Map<String, Value>) -> Option<String> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    if let Some(email) = mapped.get("email").and_then(text) {
        return Some(email);
    }
    // Without a mapping the names that the usual identity providers use are tried, most specific first.
    let attribute = EMAIL_ATTRIBUTES
        .iter()
        .find_map(|name| find_values(&claims.attributes, name).into_iter().next());
    let name_id = claims.name_id.as_ref();
    let name = name_id.filter(|name| name.format == name_id_format::EMAIL_ADDRESS && !name.value.is_empty());
    attribute.or_else(|| name.map(|name| name.value.clone()))
}

/// Puts known claims at the top and the rest into `custom_claims`. Compat: empty texts, zeros and false are left out, but
/// `phone_verified` is always there.
fn build_identity_data(mapped: Map<String, Value>) -> Result<Map<String, Value>, AuthError> {
    let mut data = Map::new();
    let mut custom = Map::new();
    data.insert("phone_verified".to_owned(), json!(false));
    for (claim, value) in mapped {
        let known = match claim.as_str() {
            "sub" | "iss" | "email" | "email_verified" | "custom_claims" => continue,
            "aud" => read_audience(value)?,
            "phone_verified" => Some(value)
                .filter(Value::is_boolean)
                .ok_or(SamlError::MappedClaims)?,
            "iat" | "exp" => Some(value)
                .filter(Value::is_number)
                .ok_or(SamlError::MappedClaims)?,
            "updated_at" => Some(value)
                .filter(Value::is_string)
                .ok_or(SamlError::MappedClaims)?,
            name if TEXT_CLAIMS.contains(&name) => Some(value)
                .filter(Value::is_string)
                .ok_or(SamlError::MappedClaims)?,
            _ => {
                custom.insert(claim, value);
                continue;
            }
        };
        if known != json!("") && known != json!(0) {
            data.insert(claim, known);
        }
    }
    data.insert("custom_claims".to_owned(), Value::Object(custom));
    Ok(data)
}

/// An audience is a list; a single text becomes a list of one.
fn read_audience(value: Value) -> Result<Value, SamlError> {
    match value {
        Value::String(text) => Ok(json!([text])),
        Value::Array(list) if list.iter().all(Value::is_string) => Ok(Value::Array(list)),
        _ => Err(SamlError::MappedClaims),
    }
}

#[cfg(test)]
mod tests {
    use chrono::Utc;
    use selvedge_saml::NameId;

    use super::*;

    fn claims(format: &str, name: &str, attributes: &[(&str, &str, &[&str])]) -> Claims {
        let attribute = |(name, friendly, values): &(&str, &str, &[&str])| AttributeValues {
            name: (*name).to_owned(),
            friendly_name: (*friendly).to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        Claims {
            assertion_id: "_1".to_owned(),
            expires_at: Utc::now(),
            name_id: Some(NameId {
                format: format.to_owned(),
                value: name.to_owned(),
            }),
            attributes: attributes.iter().map(attribute).collect(),
            session_not_on_or_after: None,
        }
    }

    #[test]
    fn saml_007_claims_are_found_by_the_mapping_and_sorted_into_known_and_custom_ones() {
        let claims = claims(
            "",
            "u1",
            &[
                ("urn:x:dept", "Department", &["", "R&D"]),
                ("mail", "", &[" Ada@Example.com "]),
                ("role", "", &["a"]),
                ("ROLE", "", &["b"]),
            ],
        );
        let mapping = json!({"keys": {
            "name": {"names": ["absent", "department"]}, "roles": {"name": "role", "array": true},
            "level": {"default": 3}, "none": {"name": "absent"}, "sub": {"default": "chosen"}, "aud": {"default": "x"},
        }});
        let identity = read_identity(&claims, "https://idp.example", &mapping).unwrap();
        assert_eq!(identity.email, "ada@example.com");
        assert_eq!(
            Value::Object(identity.data),
            json!({
                "phone_verified": false, "name": "R&D", "aud": ["x"], "custom_claims": {"roles": ["a", "b"], "level": 3},
                "sub": "u1", "iss": "https://idp.example", "email": "ada@example.com",
            })
        );
    }

    #[test]
    fn saml_007_the_subject_is_an_attribute_or_a_name_that_stays() {
        let subject = |format, name, attributes: &[(&str, &str, &[&str])]| {
            find_subject(&claims(format, name, attributes))
        };
        assert_eq!(
            subject(name_id_format::EMAIL_ADDRESS, " A@B.c ", &[]).as_deref(),
            Some("a@b.c")
        );
        assert_eq!(
            subject(name_id_format::PERSISTENT, " A ", &[]).as_deref(),
            Some(" A ")
        );
        assert_eq!(subject(name_id_format::TRANSIENT, "a", &[]), None);
        assert_eq!(
            subject("", "a", &[(SUBJECT_ID, "", &["s", "t"])]).as_deref(),
            Some("s")
        );
        assert_eq!(subject("", "a", &[(SUBJECT_ID, "", &[""])]), None);
        assert_eq!(subject("", "a", &[(SUBJECT_ID, "", &[])]).as_deref(), Some("a"));
    }
}
