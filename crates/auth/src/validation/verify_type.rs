//! The `type` of `/verify`: what a one-time token is for. Source: Auth contract §2.6.

/// The purpose of a one-time token, as the client names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerifyType {
    Signup,
    Invite,
    MagicLink,
    Recovery,
    EmailChange,
    /// Signup or magic link, whichever token matches.
    Email,
    Sms,
    PhoneChange,
}

impl VerifyType {
    /// Reads the name on the wire.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "signup" => Self::Signup,
            "invite" => Self::Invite,
            "magiclink" => Self::MagicLink,
            "recovery" => Self::Recovery,
            "email_change" => Self::EmailChange,
            "email" => Self::Email,
            "sms" => Self::Sms,
            "phone_change" => Self::PhoneChange,
            _ => return None,
        })
    }

    /// Returns the name in requests.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Signup => "signup",
            Self::Invite => "invite",
            Self::MagicLink => "magiclink",
            Self::Recovery => "recovery",
            Self::EmailChange => "email_change",
            Self::Email => "email",
            Self::Sms => "sms",
            Self::PhoneChange => "phone_change",
        }
    }

    /// Whether codes of this type go out by text message.
    pub(crate) fn is_by_phone(self) -> bool {
        matches!(self, Self::Sms | Self::PhoneChange)
    }

    /// The `authentication_method` under which a PKCE flow of this type was stored.
    pub(crate) fn flow_method(self) -> &'static str {
        match self {
            Self::Signup => "email/signup",
            other => other.as_str(),
        }
    }
}
