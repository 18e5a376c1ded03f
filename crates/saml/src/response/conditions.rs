//! Whether a verified response is meant for this service, at this time, as the answer to this request. Source: SAML 2.0
//! Profiles §4.1.4, and §3 and §9 of the contract.

use chrono::{DateTime, TimeDelta, Utc};

use super::verified::{ResponseError, VerifiedResponse};
use crate::metadata::{IdentityProvider, ServiceProvider};
use crate::names::{ASSERTION_NS, BEARER, ISSUER, Name, PROTOCOL_NS, STATUS_SUCCESS};
use crate::time::parse_time;
use crate::xml::{Document, ElementId};

/// How far the clocks of both sides may differ.
pub(super) const CLOCK_SKEW: TimeDelta = TimeDelta::seconds(180);
/// The maximum age of a response, which the browser forwards immediately.
pub(super) const MAX_AGE: TimeDelta = TimeDelta::seconds(90);

const fn saml(local: &'static str) -> Name {
    (ASSERTION_NS, local)
}

/// The values that a response must match.
pub(super) struct Expected<'a> {
    pub(super) service: &'a ServiceProvider,
    pub(super) provider: &'a IdentityProvider,
    pub(super) request_id: Option<&'a str>,
    pub(super) now: DateTime<Utc>,
}

impl Expected<'_> {
    pub(super) fn check_response(&self, verified: &VerifiedResponse) -> Result<(), ResponseError> {
        let (document, root) = (&verified.response, verified.response.root());
        check_version(document, root)?;
        self.check_issue_instant(document, root)?;
        self.check_request(document.attribute(root, "InResponseTo"))?;
        // Without a signature the attribute could have been removed by anyone, so it is only required of signed responses.
        match document.attribute(root, "Destination") {
            Some(destination) if destination == self.service.acs_url => {}
            None | Some("") if !verified.is_response_signed => {}
            _ => return Err(ResponseError::Destination),
        }
        // The issuer of the response may be left out, other than that of the assertion.
        if let Some(issuer) = document.child(root, ISSUER)
            && document.text(issuer) != self.provider.entity_id
        {
            return Err(ResponseError::Issuer);
        }
        // The status code of a failure may be nested; only the outer one says whether the sign-in succeeded.
        let status = document.only_child(root, (PROTOCOL_NS, "Status"));
        let code = status.and_then(|id| document.only_child(id, (PROTOCOL_NS, "StatusCode")));
        if code.and_then(|id| document.attribute(id, "Value")) != Some(STATUS_SUCCESS) {
            return Err(ResponseError::Status);
        }
        Ok(())
    }

    pub(super) fn check_assertion(&self, verified: &VerifiedResponse) -> Result<(), ResponseError> {
        let (document, assertion) = (&verified.assertion_document, verified.assertion);
        check_version(document, assertion)?;
        self.check_issue_instant(document, assertion)?;
        // Keys were chosen by the provider, so an assertion in the name of another one would be a forgery by this one.
        let issuer = document.only_child(assertion, ISSUER);
        if issuer.map(|id| document.text(id)).as_ref() != Some(&self.provider.entity_id) {
            return Err(ResponseError::Issuer);
        }
        self.check_confirmation(document, assertion)?;
        self.check_conditions(document, assertion)
    }

    /// Neither older than [`MAX_AGE`] nor further ahead than clocks may differ.
    fn check_issue_instant(&self, document: &Document, id: ElementId) -> Result<(), ResponseError> {
        let issued = document.attribute(id, "IssueInstant").and_then(parse_time);
        match issued {
            Some(issued) if issued + MAX_AGE >= self.now && issued <= self.now + CLOCK_SKEW => Ok(()),
            _ => Err(ResponseError::IssueInstant),
        }
    }

    /// A response to a request must contain the request's id. An unsolicited one must not contain any: it could have been
    /// taken from another sign-in.
    fn check_request(&self, in_response_to: Option<&str>) -> Result<(), ResponseError> {
        let named = in_response_to.filter(|id| !id.is_empty());
        if named == self.request_id {
            Ok(())
        } else {
            Err(ResponseError::Request)
        }
    }

    /// Among the confirmations by bearer, each must be valid and there must be one. Other methods need proof that a
    /// browser cannot give.
    fn check_confirmation(&self, document: &Document, assertion: ElementId) -> Result<(), ResponseError> {
        let subject = document
            .only_child(assertion, saml("Subject"))
            .ok_or(ResponseError::Subject)?;
        let mut bearers = document
            .children_named(subject, saml("SubjectConfirmation"))
            .filter(|id| document.attribute(*id, "Method") == Some(BEARER))
            .peekable();
        if bearers.peek().is_none() {
            return Err(ResponseError::Confirmation);
        }
        bearers.try_for_each(|confirmation| {
            let data = document.only_child(confirmation, saml("SubjectConfirmationData"));
            let data = data.ok_or(ResponseError::Confirmation)?;
            self.check_request(document.attribute(data, "InResponseTo"))?;
            // A response that another service has received must not be passed on to this one.
            if document.attribute(data, "Recipient") != Some(&self.service.acs_url) {
                return Err(ResponseError::Confirmation);
            }
            self.check_times(document, data)
                .ok_or(ResponseError::Confirmation)
        })
    }

    /// `NotBefore`, if there is one, and `NotOnOrAfter`, which there must be.
    fn check_times(&self, document: &Document, id: ElementId) -> Option<()> {
        if let Some(not_before) = document.attribute(id, "NotBefore")
            && parse_time(not_before)? > self.now + CLOCK_SKEW
        {
            return None;
        }
        let end = parse_time(document.attribute(id, "NotOnOrAfter")?)?;
        (self.now < end.checked_add_signed(CLOCK_SKEW)?).then_some(())
    }

    fn check_conditions(&self, document: &Document, assertion: ElementId) -> Result<(), ResponseError> {
        let conditions = document.only_child(assertion, saml("Conditions"));
        let conditions = conditions.ok_or(ResponseError::Conditions)?;
        self.check_times(document, conditions)
            .ok_or(ResponseError::Conditions)?;
        // Several restrictions all apply; of the audiences in one, any is enough (SAML 2.0 Core §2.5.1.4).
        let mut restrictions = document
            .children_named(conditions, saml("AudienceRestriction"))
            .peekable();
        if restrictions.peek().is_none() {
            return Err(ResponseError::Audience);
        }
        let names_us = |restriction| {
            let mut audiences = document.children_named(restriction, saml("Audience"));
            audiences.any(|id| document.text(id) == self.service.entity_id)
        };
        if restrictions.all(names_us) {
            Ok(())
        } else {
            Err(ResponseError::Audience)
        }
    }
}

fn check_version(document: &Document, id: ElementId) -> Result<(), ResponseError> {
    match document.attribute(id, "Version") {
        Some("2.0") => Ok(()),
        _ => Err(ResponseError::Version),
    }
}
