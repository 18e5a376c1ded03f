//! The three ways to send a mail: the project's hook, the queue in the database, or directly (SMTP or the development
//! inbox).

use chrono::TimeDelta;
use deadpool_postgres::GenericClient;
use selvedge_mail::{Mail, MailError, MailFields, MailKind};
use serde_json::json;

use crate::after_commit;
use crate::error::AuthError;
use crate::hooks::{self, HookPoint};
use crate::request::AuthRequest;
use crate::state::AuthState;
use crate::store::outgoing_mails;
use crate::user::User;

/// A mail before its template is rendered.
pub(super) struct OutgoingMail<'a> {
    pub(super) kind: MailKind,
    pub(super) to: &'a str,
    pub(super) fields: &'a MailFields,
    /// How long delivery of a queued mail is tried; as long as its code is valid, if it has one.
    pub(super) lifetime: TimeDelta,
}

/// Renders a mail and queues it in the caller's transaction, or sends it directly where mails are not queued.
///
/// # Errors
/// 500 with the text of [`find_failure_text`] when the mail is sent directly and not accepted, or the database's error.
pub(super) async fn send_mail(
    state: &AuthState,
    db: &impl GenericClient,
    mail: &OutgoingMail<'_>,
) -> Result<(), AuthError> {
    let rendered = state.templates.render(mail.kind, mail.fields);
    let message = Mail {
        to: mail.to.to_owned(),
        subject: rendered.subject,
        html: rendered.html,
        text: rendered.text,
        message_type: mail.kind.message_type().to_owned(),
        unsubscribe_url: None,
    };
    if state.queues_mail() {
        outgoing_mails::enqueue(db, &message, state.now() + mail.lifetime).await?;
        after_commit::record_queued_mail();
        return Ok(());
    }
    let sent = state.mailer.send(message).await;
    sent.map_err(|error| match error {
        MailError::NoServer => AuthError::internal(NO_SERVER, error),
        error => AuthError::internal(find_failure_text(mail.kind), error),
    })
}

/// The message where the server was started without an SMTP server, which is no fault of the mail or its recipient.
const NO_SERVER: &str = "This server cannot send mail: no SMTP server is configured";

/// Whether the project has the hook `send_email`, which is called instead of sending any mail.
pub(super) fn has_email_hook(state: &AuthState) -> bool {
    HookPoint::SendEmail.is_set(state)
}

/// The members of `email_data` in the input of the hook `send_email` that depend on the mail; unused ones are empty.
#[derive(Debug, Default)]
pub(super) struct HookData<'a> {
    pub(super) token: &'a str,
    pub(super) token_hash: &'a str,
    pub(super) token_new: &'a str,
    pub(super) token_hash_new: &'a str,
    pub(super) old_email: &'a str,
    pub(super) old_phone: &'a str,
    pub(super) provider: &'a str,
    pub(super) factor_type: &'a str,
}

/// Calls the project's hook `send_email` instead of sending the mail.
///
/// # Errors
/// The error that the hook returns, or that of calling it.
pub(super) async fn send_by_hook(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
    kind: MailKind,
    data: &HookData<'_>,
) -> Result<(), AuthError> {
    let input = json!({
        "user": user.body(),
        "email_data": {
            "token": data.token,
            "token_hash": data.token_hash,
            "redirect_to": request.info.redirect_to,
            "email_action_type": find_action_type(kind),
            // Compat: despite the name of the member, GoTrue sends the URL of the Auth service.
            "site_url": request.info.external_url,
            "token_new": data.token_new,
            "token_hash_new": data.token_hash_new,
            "old_email": data.old_email,
            "old_phone": data.old_phone,
            "provider": data.provider,
            "factor_type": data.factor_type,
        },
    });
    hooks::call_hook(request, db, HookPoint::SendEmail, input)
        .await
        .map(|_| ())
}

/// Returns `email_action_type` of the hook's input; hooks choose their template by it.
fn find_action_type(kind: MailKind) -> &'static str {
    match kind {
        MailKind::Confirmation => "signup",
        MailKind::Invite => "invite",
        MailKind::Recovery => "recovery",
        MailKind::MagicLink => "magiclink",
        MailKind::EmailChange => "email_change",
        MailKind::Reauthentication => "reauthentication",
        MailKind::PasswordChanged => "password_changed_notification",
        MailKind::EmailChanged => "email_changed_notification",
        MailKind::PhoneChanged => "phone_changed_notification",
        MailKind::IdentityLinked => "identity_linked_notification",
        MailKind::IdentityUnlinked => "identity_unlinked_notification",
        MailKind::MfaFactorEnrolled => "mfa_factor_enrolled_notification",
        MailKind::MfaFactorUnenrolled => "mfa_factor_unenrolled_notification",
        MailKind::CredentialsForgotten => "credentials_forgotten_notification",
        MailKind::PasskeyAdded => "passkey_added_notification",
        MailKind::PasskeyRemoved => "passkey_removed_notification",
        MailKind::RecoveryCodeUsed => "recovery_code_used_notification",
        MailKind::RecoveryCodesReplaced => "recovery_codes_replaced_notification",
    }
}

/// Returns the message of the error when a mail of this kind is not accepted; GoTrue's texts.
fn find_failure_text(kind: MailKind) -> &'static str {
    match kind {
        MailKind::Confirmation => "Error sending confirmation email",
        MailKind::Invite => "Error sending invite email",
        MailKind::Recovery => "Error sending recovery email",
        MailKind::MagicLink => "Error sending magic link email",
        MailKind::EmailChange => "Error sending email change email",
        MailKind::Reauthentication => "Error sending reauthentication email",
        _ => "Error sending notification email",
    }
}
