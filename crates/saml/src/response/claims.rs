//! The claims of a verified assertion about the user.

use chrono::{DateTime, Utc};

use super::conditions::{CLOCK_SKEW, MAX_AGE};
use super::verified::{ResponseError, VerifiedResponse};
use crate::names::{ASSERTION_NS, Name};
use crate::time::parse_time;
use crate::xml::{Document, ElementId};

const fn saml(local: &'static str) -> Name {
    (ASSERTION_NS, local)
}

/// The name that the identity provider has for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameId {
    /// URI of the kind of name; empty when the provider does not say.
    pub format: String,
    /// The name, as it was written.
    pub value: String,
}

/// One attribute of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeValues {
    /// Its name, mostly a URI.
    pub name: String,
    /// Its name for people; may be empty.
    pub friendly_name: String,
    /// Its values, as they were written.
    pub values: Vec<String>,
}

/// The claims of an assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// Id of the assertion, which must be used only once.
    pub assertion_id: String,
    /// From when on the assertion is refused for its age, so that its id need not be remembered any more.
    pub expires_at: DateTime<Utc>,
    /// The user's name at the provider.
    pub name_id: Option<NameId>,
    /// Attributes of all statements, in their order.
    pub attributes: Vec<AttributeValues>,
    /// When the user's session shall end.
    pub session_not_on_or_after: Option<DateTime<Utc>>,
}

pub(super) fn read_claims(verified: &VerifiedResponse) -> Result<Claims, ResponseError> {
    let (document, assertion) = (&verified.assertion_document, verified.assertion);
    let id = document.attribute(assertion, "ID").filter(|id| !id.is_empty());
    let issued = document.attribute(assertion, "IssueInstant").and_then(parse_time);
    let subject = document
        .only_child(assertion, saml("Subject"))
        .ok_or(ResponseError::Subject)?;
    let name_id = document.only_child(subject, saml("NameID")).map(|id| NameId {
        format: document.attribute(id, "Format").unwrap_or_default().to_owned(),
        value: document.text(id),
    });
    Ok(Claims {
        assertion_id: id.ok_or(ResponseError::Subject)?.to_owned(),
        // Nodes whose clocks differ must remember it for as long as one of them would take it.
        expires_at: issued.ok_or(ResponseError::IssueInstant)? + MAX_AGE + CLOCK_SKEW,
        name_id,
        attributes: read_attributes(document, assertion),
        session_not_on_or_after: document
            .children_named(assertion, saml("AuthnStatement"))
            .find_map(|id| parse_time(document.attribute(id, "SessionNotOnOrAfter")?)),
    })
}

fn read_attributes(document: &Document, assertion: ElementId) -> Vec<AttributeValues> {
    // Attributes of the same name are kept apart: which of them counts is a matter of the mapping.
    let statements = document.children_named(assertion, saml("AttributeStatement"));
    let attributes = statements.flat_map(|id| document.children_named(id, saml("Attribute")));
    attributes
        .map(|id| AttributeValues {
            name: document.attribute(id, "Name").unwrap_or_default().to_owned(),
            friendly_name: document
                .attribute(id, "FriendlyName")
                .unwrap_or_default()
                .to_owned(),
            values: document
                .children_named(id, saml("AttributeValue"))
                .map(|value| document.text(value))
                .collect(),
        })
        .collect()
}
