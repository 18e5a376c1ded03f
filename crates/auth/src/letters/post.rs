//! How a mail leaves: by the project's hook, by the queue in the database, or at once into the inbox of development.

use chrono::TimeDelta;
use deadpool_postgres::GenericClient;
use selvedge_mail::{Mail, MailFields, MailKind};
use serde_json::json;

use crate::aftermath;
use crate::error::AuthError;
use crate::hooks::{self, HookPoint};
use crate::request::RequestInfo;
use crate::state::AuthState;
use crate::store::outgoing_mails;
use crate::user::User;

/// Renders and sends.
pub(super) struct Post {
    /// How long the mail is worth sending.
    pub(super) life: TimeDelta,
}

impl Post {
    /// The hook that sends instead, if the project has one.
    pub(super) fn hook(state: &AuthState) -> Option<HookPost> {
        HookPoint::SendEmail.is_set(state).then_some(HookPost)
    }

    /// Promises the mail, or hands it over now.
    pub(super) async fn send(
        &self,
        state: &AuthState,
        db: &impl GenericClient,
        kind: MailKind,
        to: &str,
        fields: &MailFields,
    ) -> Result<(), AuthError> {
        let rendered = state.templates.render(kind, fields);
        let mail = Mail {
            to: to.to_owned(),
            subject: rendered.subject,
            html: rendered.html,
            text: rendered.text,
            message_type: kind.message_type().to_owned(),
        };
        if state.queues_mail() {
            outgoing_mails::put(db, &mail, state.now() + self.life).await?;
            aftermath::mail_was_queued();
            return Ok(());
        }
        let sent = state.mailer.send(mail).await;
        sent.map_err(|error| AuthError::internal(failure_text(kind), error))
    }
}

/// What a hook needs to write a mail itself.
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

/// Mails that the project's hook sends.
pub(super) struct HookPost;

impl HookPost {
    pub(super) async fn send(
        &self,
        state: &AuthState,
        db: &impl GenericClient,
        info: &RequestInfo,
        user: &User,
        kind: MailKind,
        data: &HookData<'_>,
    ) -> Result<(), AuthError> {
        let input = json!({
            "user": user.body(),
            "email_data": {
                "token": data.token,
                "token_hash": data.token_hash,
                "redirect_to": info.redirect_to,
                "email_action_type": action(kind),
                "site_url": info.external_url,
                "token_new": data.token_new,
                "token_hash_new": data.token_hash_new,
                "old_email": data.old_email,
                "old_phone": data.old_phone,
                "provider": data.provider,
                "factor_type": data.factor_type,
            },
        });
        hooks::call(state, db, info, HookPoint::SendEmail, input)
            .await
            .map(|_| ())
    }
}

/// The kind of mail, as hooks know it.
fn action(kind: MailKind) -> &'static str {
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
    }
}

fn failure_text(kind: MailKind) -> &'static str {
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
