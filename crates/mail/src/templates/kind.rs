//! The kinds of mail that Auth sends, and their names in the configuration.

/// The kind of a mail, by the event that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailKind {
    /// Confirms the address of a new user.
    Confirmation,
    /// Invites a person to sign up.
    Invite,
    /// Lets a user who forgot the password choose a new one.
    Recovery,
    /// Signs a user in without a password.
    MagicLink,
    /// Confirms a change of the account's address.
    EmailChange,
    /// A code that the user enters before a sensitive change.
    Reauthentication,
    /// The password has changed.
    PasswordChanged,
    /// The address has changed; sent to the old address, whose owner may not have wanted it.
    EmailChanged,
    /// The phone number has changed.
    PhoneChanged,
    /// An identity was linked to the account.
    IdentityLinked,
    /// An identity was unlinked from the account.
    IdentityUnlinked,
    /// A second factor was added.
    MfaFactorEnrolled,
    /// A second factor was removed.
    MfaFactorUnenrolled,
    /// Password and providers that were registered before the address was proven are gone. Ours: the original removes a
    /// password at a sign-in by a provider without a mail.
    CredentialsForgotten,
    /// A passkey was added, which signs in without the password. Ours, as the next one.
    PasskeyAdded,
    /// A passkey was removed.
    PasskeyRemoved,
    /// A recovery code was used in place of the second factor. Ours, as the next one.
    RecoveryCodeUsed,
    /// The recovery codes were replaced by new ones.
    RecoveryCodesReplaced,
}

impl MailKind {
    /// Number of kinds; `kind as usize` is below it.
    pub(super) const COUNT: usize = 18;

    /// The mails of `[auth.email.notification.<name>]`, with their names.
    pub const NOTIFICATIONS: [(&'static str, Self); 12] = [
        ("password_changed", Self::PasswordChanged),
        ("email_changed", Self::EmailChanged),
        ("phone_changed", Self::PhoneChanged),
        ("identity_linked", Self::IdentityLinked),
        ("identity_unlinked", Self::IdentityUnlinked),
        ("mfa_factor_enrolled", Self::MfaFactorEnrolled),
        ("mfa_factor_unenrolled", Self::MfaFactorUnenrolled),
        ("passkey_added", Self::PasskeyAdded),
        ("passkey_removed", Self::PasskeyRemoved),
        ("recovery_code_used", Self::RecoveryCodeUsed),
        ("recovery_codes_replaced", Self::RecoveryCodesReplaced),
        ("credentials_forgotten", Self::CredentialsForgotten),
    ];

    /// The name of the mail in `[auth.email.template.<name>]`.
    #[must_use]
    pub fn from_config_name(name: &str) -> Option<Self> {
        Some(match name {
            "confirmation" => Self::Confirmation,
            "invite" => Self::Invite,
            "recovery" => Self::Recovery,
            "magic_link" => Self::MagicLink,
            "email_change" => Self::EmailChange,
            "reauthentication" => Self::Reauthentication,
            _ => return None,
        })
    }

    /// Returns the value of `$messageType` in a header that the project adds to its mails. Source: Auth contract §7.
    #[must_use]
    pub fn message_type(self) -> &'static str {
        match self {
            Self::Confirmation => "confirmation",
            Self::Invite => "invite",
            Self::Recovery => "recovery",
            Self::MagicLink => "magic_link",
            Self::EmailChange => "email_change",
            // Compat: the only kind whose message type differs from the name of its template.
            Self::Reauthentication => "reauthenticate",
            Self::PasswordChanged => "password_changed_notification",
            Self::EmailChanged => "email_changed_notification",
            Self::PhoneChanged => "phone_changed_notification",
            Self::IdentityLinked => "identity_linked_notification",
            Self::IdentityUnlinked => "identity_unlinked_notification",
            Self::MfaFactorEnrolled => "mfa_factor_enrolled_notification",
            Self::MfaFactorUnenrolled => "mfa_factor_unenrolled_notification",
            Self::CredentialsForgotten => "credentials_forgotten_notification",
            Self::PasskeyAdded => "passkey_added_notification",
            Self::PasskeyRemoved => "passkey_removed_notification",
            Self::RecoveryCodeUsed => "recovery_code_used_notification",
            Self::RecoveryCodesReplaced => "recovery_codes_replaced_notification",
        }
    }

    /// The mail of this name in `[auth.email.notification.<name>]`.
    #[must_use]
    pub fn from_notification_name(name: &str) -> Option<Self> {
        let found = Self::NOTIFICATIONS.iter().find(|(known, _)| *known == name);
        found.map(|(_, kind)| *kind)
    }

    /// Whether the mail is sent whatever the project has set: the user could not know otherwise why the password does not work.
    #[must_use]
    pub fn is_always_sent(self) -> bool {
        self == Self::CredentialsForgotten
    }
}
