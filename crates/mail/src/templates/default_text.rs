//! The texts of mails whose template the project has not replaced.

use super::kind::MailKind;

/// The texts of a default mail; each is a template itself.
pub(super) struct DefaultText {
    pub(super) subject: &'static str,
    pub(super) heading: &'static str,
    pub(super) lead: &'static str,
    /// Label of the button; empty for a mail without a link.
    pub(super) button: &'static str,
    pub(super) note: &'static str,
}

const IGNORE: &str = "If you did not ask for this, you can ignore this mail: nothing changes.";

/// A notification: it reports a change and asks for nothing, so it has neither link nor code. A link in it
/// would teach users to click links in mails about their security, which phishing imitates.
fn build_notice(subject: &'static str, lead: &'static str) -> DefaultText {
    DefaultText {
        subject,
        heading: subject,
        lead,
        button: "",
        note: "If this was not you, secure your account at once.",
    }
}

/// The default texts of a kind of mail.
pub(super) fn find_default_text(kind: MailKind) -> DefaultText {
    match kind {
        MailKind::Confirmation => DefaultText {
            subject: "Confirm your email address",
            heading: "Confirm your email address",
            lead: "Welcome! Confirm {{ .Email }} to finish signing up.",
            button: "Confirm your email address",
            note: IGNORE,
        },
        MailKind::Invite => DefaultText {
            subject: "You've been invited",
            heading: "You have been invited",
            lead: "You have been invited to create an account on {{ .SiteURL }}.",
            button: "Accept the invitation",
            note: "If you did not expect an invitation, you can ignore this mail.",
        },
        MailKind::Recovery => DefaultText {
            subject: "Reset your password",
            heading: "Reset your password",
            lead: "Somebody, hopefully you, asked for a new password for {{ .Email }}.",
            button: "Choose a new password",
            note: IGNORE,
        },
        MailKind::MagicLink => DefaultText {
            subject: "Your sign-in link",
            heading: "Your sign-in link",
            lead: "Sign in to {{ .SiteURL }} as {{ .Email }}. The link works once.",
            button: "Sign in",
            note: IGNORE,
        },
        MailKind::EmailChange => DefaultText {
            subject: "Confirm your new email address",
            heading: "Confirm the change of your email address",
            lead: "The address of your account is to change{{ if .Email }} from {{ .Email }}{{ end }} to {{ .NewEmail }}.",
            button: "Confirm the change",
            note: "If you did not ask for this, do not confirm, and change your password.",
        },
        MailKind::Reauthentication => DefaultText {
            subject: "{{ .Token }} is your verification code",
            heading: "Confirm that it is you",
            lead: "Enter this code to go on.",
            button: "",
            note: "If you did not ask for a code, change your password.",
        },
        MailKind::PasswordChanged => build_notice(
            "Your password was changed",
            "The password of your account {{ .Email }} was changed.",
        ),
        MailKind::EmailChanged => build_notice(
            "Your email address was changed",
            "The address of your account was changed from {{ .OldEmail }} to {{ .Email }}.",
        ),
        MailKind::PhoneChanged => build_notice(
            "Your phone number was changed",
            "The phone number of your account {{ .Email }} was changed{{ if .OldPhone }} from {{ .OldPhone }}{{ end }} to {{ .Phone }}.",
        ),
        MailKind::IdentityLinked => build_notice(
            "A new sign-in method was added",
            "{{ .Provider }} was linked to your account {{ .Email }}.",
        ),
        MailKind::IdentityUnlinked => build_notice(
            "A sign-in method was removed",
            "{{ .Provider }} was unlinked from your account {{ .Email }}.",
        ),
        MailKind::MfaFactorEnrolled => build_notice(
            "A second factor was added",
            "A second factor ({{ .FactorType }}) was added to your account {{ .Email }}.",
        ),
        MailKind::MfaFactorUnenrolled => build_notice(
            "A second factor was removed",
            "A second factor ({{ .FactorType }}) was removed from your account {{ .Email }}.",
        ),
        MailKind::CredentialsForgotten => build_notice(
            "Please set a new password",
            "{{ .Email }} was registered here before you confirmed it. Whoever did so may not have been you, so the password and the \
             other ways to sign in that were set then do not work any more. If you want to sign in by a password, set a new one.",
        ),
        MailKind::PasskeyAdded => build_notice(
            "A passkey was added",
            "A passkey was added to your account {{ .Email }}. It signs in without the password, and a new password does not remove it.",
        ),
        MailKind::PasskeyRemoved => build_notice(
            "A passkey was removed",
            "A passkey was removed from your account {{ .Email }}.",
        ),
        MailKind::RecoveryCodeUsed => build_notice(
            "A recovery code was used",
            "A recovery code was used in place of the second factor of your account {{ .Email }}. If it was not you, change your password \
             and replace your recovery codes.",
        ),
        MailKind::RecoveryCodesReplaced => build_notice(
            "Your recovery codes were replaced",
            "The recovery codes of your account {{ .Email }} were replaced by new ones. The old ones do not work any more.",
        ),
    }
}
