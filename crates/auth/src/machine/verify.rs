//! What a presented code or link is worth: user's pending tokens + what was presented → the effect. Source: Auth contract §2.6, §3.5.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::rules::one_time_code::PresentedToken;

/// What the caller says the token is for.
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

    /// The name on the wire.
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

/// The pending tokens of a user.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingTokens {
    pub(crate) confirmation: String,
    pub(crate) confirmation_sent_at: Option<DateTime<Utc>>,
    pub(crate) recovery: String,
    pub(crate) recovery_sent_at: Option<DateTime<Utc>>,
    pub(crate) email_change_new: String,
    pub(crate) email_change_current: String,
    pub(crate) email_change_sent_at: Option<DateTime<Utc>>,
    /// 0: nothing is confirmed, 1: one of the two addresses is.
    pub(crate) email_change_status: i16,
    pub(crate) has_email: bool,
    pub(crate) phone_change: String,
    pub(crate) phone_change_sent_at: Option<DateTime<Utc>>,
}

/// The project's rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VerifyRules {
    pub(crate) otp_expiry: Duration,
    /// The same for codes by text message.
    pub(crate) sms_expiry: Duration,
    /// Both addresses must confirm a change.
    pub(crate) double_change: bool,
}

/// Which of the two tokens of an e-mail change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeToken {
    New,
    Current,
}

/// What a good token does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The address of a new or invited user is confirmed.
    Confirm(VerifyType),
    /// The holder of the address signs in; an unconfirmed user becomes confirmed.
    SignIn(VerifyType),
    /// One of two addresses has agreed; the other is asked still.
    FirstHalf(ChangeToken),
    /// The address changes.
    ChangeEmail,
    /// The phone is confirmed, and its holder signs in.
    ConfirmPhone,
    /// The phone number changes.
    ChangePhone,
}

impl Effect {
    /// What the flow was in the end: `email` has become one of its two meanings.
    pub(crate) fn verify_type(self) -> VerifyType {
        match self {
            Self::Confirm(kind) | Self::SignIn(kind) => kind,
            Self::FirstHalf(_) | Self::ChangeEmail => VerifyType::EmailChange,
            Self::ConfirmPhone => VerifyType::Sms,
            Self::ChangePhone => VerifyType::PhoneChange,
        }
    }
}

/// Decides what the token is worth; `None`: wrong, used or expired.
pub(crate) fn verify(
    asked: VerifyType,
    token: &PresentedToken,
    tokens: &PendingTokens,
    rules: VerifyRules,
    now: DateTime<Utc>,
) -> Option<Effect> {
    let expiry = if asked.is_by_phone() {
        rules.sms_expiry
    } else {
        rules.otp_expiry
    };
    let expiry = TimeDelta::from_std(expiry).unwrap_or(TimeDelta::MAX);
    let is_good = |stored: &str, sent_at: Option<DateTime<Utc>>| {
        token.matches(stored) && sent_at.is_some_and(|sent_at| now - sent_at < expiry)
    };
    let confirmation = || is_good(&tokens.confirmation, tokens.confirmation_sent_at);
    let recovery = || is_good(&tokens.recovery, tokens.recovery_sent_at);
    match asked {
        VerifyType::Signup | VerifyType::Invite => confirmation().then_some(Effect::Confirm(asked)),
        VerifyType::MagicLink | VerifyType::Recovery => recovery().then_some(Effect::SignIn(asked)),
        VerifyType::Email if confirmation() => Some(Effect::Confirm(VerifyType::Signup)),
        VerifyType::Email => recovery().then_some(Effect::SignIn(VerifyType::MagicLink)),
        VerifyType::EmailChange => {
            let token = if is_good(&tokens.email_change_new, tokens.email_change_sent_at) {
                ChangeToken::New
            } else if is_good(&tokens.email_change_current, tokens.email_change_sent_at) {
                ChangeToken::Current
            } else {
                return None;
            };
            let is_first = rules.double_change && tokens.has_email && tokens.email_change_status == 0;
            Some(if is_first {
                Effect::FirstHalf(token)
            } else {
                Effect::ChangeEmail
            })
        }
        VerifyType::Sms => confirmation().then_some(Effect::ConfirmPhone),
        VerifyType::PhoneChange => {
            is_good(&tokens.phone_change, tokens.phone_change_sent_at).then_some(Effect::ChangePhone)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: VerifyRules = VerifyRules {
        otp_expiry: Duration::from_secs(3600),
        sms_expiry: Duration::from_secs(60),
        double_change: true,
    };

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).expect("a valid time")
    }

    fn link(token: &str) -> PresentedToken {
        PresentedToken::Link(token.to_owned())
    }

    fn tokens() -> PendingTokens {
        PendingTokens {
            confirmation: "confirm".to_owned(),
            confirmation_sent_at: Some(now()),
            recovery: "pkce_recover".to_owned(),
            recovery_sent_at: Some(now()),
            email_change_new: "new".to_owned(),
            email_change_current: "current".to_owned(),
            email_change_sent_at: Some(now()),
            email_change_status: 0,
            has_email: true,
            phone_change: "change".to_owned(),
            phone_change_sent_at: Some(now()),
        }
    }

    #[test]
    fn each_type_accepts_its_own_token_only() {
        let cases = [
            (
                VerifyType::Signup,
                "confirm",
                Some(Effect::Confirm(VerifyType::Signup)),
            ),
            (
                VerifyType::Invite,
                "confirm",
                Some(Effect::Confirm(VerifyType::Invite)),
            ),
            (VerifyType::Signup, "pkce_recover", None),
            (
                VerifyType::Recovery,
                "pkce_recover",
                Some(Effect::SignIn(VerifyType::Recovery)),
            ),
            (
                VerifyType::Recovery,
                "pkce_recover",
                Some(Effect::SignIn(VerifyType::Recovery)),
            ),
            (VerifyType::MagicLink, "confirm", None),
            (
                VerifyType::Email,
                "confirm",
                Some(Effect::Confirm(VerifyType::Signup)),
            ),
            (
                VerifyType::Email,
                "pkce_recover",
                Some(Effect::SignIn(VerifyType::MagicLink)),
            ),
            (VerifyType::EmailChange, "pkce_recover", None),
            (VerifyType::Sms, "confirm", Some(Effect::ConfirmPhone)),
            (VerifyType::Sms, "change", None),
            (VerifyType::PhoneChange, "change", Some(Effect::ChangePhone)),
            (VerifyType::PhoneChange, "confirm", None),
            (VerifyType::Email, "", None),
        ];
        for (asked, hash, expected) in cases {
            assert_eq!(
                verify(asked, &link(hash), &tokens(), RULES, now()),
                expected,
                "{asked:?} {hash}"
            );
        }
    }

    #[test]
    fn auth_026_expired_tokens_are_worth_nothing() {
        let later = now() + TimeDelta::seconds(3600);
        assert_eq!(
            verify(VerifyType::Signup, &link("confirm"), &tokens(), RULES, later),
            None
        );
        assert_eq!(
            verify(VerifyType::EmailChange, &link("new"), &tokens(), RULES, later),
            None
        );
    }

    #[test]
    fn auth_094_codes_by_text_message_have_a_life_of_their_own() {
        let later = now() + TimeDelta::seconds(60);
        let sms = |at| verify(VerifyType::Sms, &link("confirm"), &tokens(), RULES, at);

        assert_eq!(sms(later), None);
        assert_eq!(sms(now()), Some(Effect::ConfirmPhone));
    }

    #[test]
    fn auth_070_a_secure_change_needs_both_addresses() {
        let change = |hash: &str, tokens: &PendingTokens, rules| {
            verify(VerifyType::EmailChange, &link(hash), tokens, rules, now())
        };
        let half = PendingTokens {
            email_change_status: 1,
            email_change_new: String::new(),
            ..tokens()
        };
        let without_email = PendingTokens {
            has_email: false,
            ..tokens()
        };

        assert_eq!(
            change("new", &tokens(), RULES),
            Some(Effect::FirstHalf(ChangeToken::New))
        );
        assert_eq!(
            change("current", &tokens(), RULES),
            Some(Effect::FirstHalf(ChangeToken::Current))
        );
        assert_eq!(change("current", &half, RULES), Some(Effect::ChangeEmail));
        assert_eq!(change("new", &half, RULES), None);
        assert_eq!(change("new", &without_email, RULES), Some(Effect::ChangeEmail));
        let single = VerifyRules {
            double_change: false,
            ..RULES
        };
        assert_eq!(change("new", &tokens(), single), Some(Effect::ChangeEmail));
    }
}
