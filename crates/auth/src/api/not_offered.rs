//! `/scim/v2/…`: endpoints of a feature that this server does not have. They respond 404 as upstream does
//! where the feature is off; a 5xx would make clients retry. Source: Auth contract §2.17, AUTH-095.

use crate::error::{AuthError, FeatureError};

/// The error is the only outcome; the success type exists because actix needs one.
type AlwaysRefused = Result<String, AuthError>;

/// Refuses SCIM requests: 404 `feature_disabled`.
pub(crate) async fn refuse_scim() -> AlwaysRefused {
    Err(FeatureError::ScimDisabled.into())
}
