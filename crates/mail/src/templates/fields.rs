//! The data that a mail template is rendered with.

use serde::Serialize;
use serde_json::Value;

/// The values that a template may refer to, by the names of GoTrue's Go templates.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct MailFields {
    /// `SITE_URL` of the project.
    #[serde(rename = "SiteURL")]
    pub site_url: String,
    /// The link to follow: it confirms, signs in or resets, depending on the mail.
    #[serde(rename = "ConfirmationURL")]
    pub confirmation_url: String,
    /// Address of the account.
    pub email: String,
    /// The address that an account is to change to.
    pub new_email: String,
    /// The address that this mail goes to.
    pub sending_to: String,
    /// The one-time code, which can be typed instead of following the link.
    pub token: String,
    /// The token hash in the link, for projects whose templates build the link themselves.
    pub token_hash: String,
    /// The URL to which the link finally redirects.
    pub redirect_to: String,
    /// E-mail address before the change.
    pub old_email: String,
    /// The phone number.
    pub phone: String,
    /// The phone number before a change.
    pub old_phone: String,
    /// The identity provider that was linked or unlinked.
    pub provider: String,
    /// The kind of second factor that was added or removed.
    pub factor_type: String,
    /// The user's metadata.
    pub data: Value,
}
