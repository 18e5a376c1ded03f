//! Notifications: mails that tell a user what has changed in the account, such as the password. They are sent after the
//! commit, and a failure is only logged, because the change itself has succeeded. Source: Auth contract §7.

use chrono::TimeDelta;
use selvedge_mail::{MailFields, MailKind};

use super::check_recipient;
use super::send_mail::{HookData, OutgoingMail, has_email_hook, send_by_hook, send_mail};
use crate::error::AuthError;
use crate::request::AuthRequest;
use crate::user::User;

/// How long delivery of a queued notification is tried. It has no code that expires.
const LIFETIME: TimeDelta = TimeDelta::days(3);

/// Details of the change, for the mail's template. Fields that do not concern the change are empty.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Notice<'a> {
    pub(crate) old_email: &'a str,
    pub(crate) old_phone: &'a str,
    pub(crate) provider: &'a str,
    /// `totp`, `phone` or `webauthn`.
    pub(crate) factor_type: &'a str,
}

/// Sends a notification to a user who has an address, where the project has enabled this kind or it cannot be disabled. Called after
/// the commit, so that nobody is told of a change that was rolled back.
pub(crate) async fn notify_user(request: &AuthRequest, user: &User, kind: MailKind, notice: Notice<'_>) {
    // The old address gets the mail, so that its owner learns of a change that somebody else has made.
    let to = match kind {
        MailKind::EmailChanged => notice.old_email,
        _ => user.email.as_str(),
    };
    let is_wanted = kind.is_always_sent() || request.config().email.notifications.contains(&kind);
    // The address of a user of single sign-on may be anybody's, if its domain does not belong to the provider; so may one that an
    // account in use has never proven.
    let is_foreign = user.is_sso_user && !user.is_confirmed() || user.only_claims_email();
    if to.is_empty() || is_foreign || !is_wanted {
        return;
    }
    if let Err(error) = send_notice(request, user, kind, to, notice).await {
        tracing::warn!(%error, ?kind, "a notification could not be sent");
    }
}

async fn send_notice(
    request: &AuthRequest,
    user: &User,
    kind: MailKind,
    to: &str,
    notice: Notice<'_>,
) -> Result<(), AuthError> {
    check_recipient(&request.state, to)?;
    let mut client = request.connect().await?;
    // A hook that is a database function runs inside a transaction, and a queued mail needs one that commits.
    let db = client.transaction().await?;
    if has_email_hook(&request.state) {
        let data = HookData {
            old_email: notice.old_email,
            old_phone: notice.old_phone,
            provider: notice.provider,
            factor_type: notice.factor_type,
            ..HookData::default()
        };
        send_by_hook(request, &db, user, kind, &data).await?;
    } else {
        let fields = MailFields {
            site_url: request.config().site_url.clone(),
            email: user.email.clone(),
            sending_to: to.to_owned(),
            old_email: notice.old_email.to_owned(),
            phone: user.phone.clone(),
            old_phone: notice.old_phone.to_owned(),
            provider: notice.provider.to_owned(),
            factor_type: notice.factor_type.to_owned(),
            data: user.user_metadata.clone(),
            ..MailFields::default()
        };
        let mail = OutgoingMail {
            kind,
            to,
            fields: &fields,
            lifetime: LIFETIME,
        };
        send_mail(&request.state, &db, &mail).await?;
    }
    Ok(db.commit().await?)
}
