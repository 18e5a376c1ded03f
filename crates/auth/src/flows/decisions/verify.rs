//! The effect of a one-time token, from the user's pending tokens and the presented one. Source: Auth contract §2.6,
//! §3.5.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::config::AuthConfig;
use crate::crypto::one_time_code::matches_stored;
use crate::user::PendingTokens;
use crate::validation::verify_type::VerifyType;

/// The project's rules for verification.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VerifyRules {
    pub(crate) otp_expiry: Duration,
    /// How long a one-time code sent by SMS stays valid.
    pub(crate) sms_expiry: Duration,
    /// Whether an e-mail change must be confirmed from both addresses.
    pub(crate) double_change: bool,
}

impl VerifyRules {
    /// The rules of a project. A change of address needs one confirmation where addresses need no proof.
    pub(crate) fn new(config: &AuthConfig) -> Self {
        Self {
            otp_expiry: config.email.otp_expiry,
            sms_expiry: config.phone.otp_expiry,
            double_change: config.email.secure_change && !config.email.autoconfirm,
        }
    }
}

/// Which of the two tokens of an e-mail change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeToken {
    New,
    Current,
}

/// The effect of a valid token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The address of a new or invited user is confirmed.
    Confirm(VerifyType),
    /// The holder of the address signs in; an unconfirmed user becomes confirmed.
    SignIn(VerifyType),
    /// One of two addresses has confirmed the change; the other has not yet.
    FirstConfirmation(ChangeToken),
    /// The address changes; the token is the last one that was needed.
    ChangeEmail(ChangeToken),
    /// The phone is confirmed, and its holder signs in.
    ConfirmPhone,
    /// The phone number changes.
    ChangePhone,
}

impl Effect {
    /// The type of the completed flow. `email` stands for two types, of which one has been found.
    pub(crate) fn verify_type(self) -> VerifyType {
        match self {
            Self::Confirm(kind) | Self::SignIn(kind) => kind,
            Self::FirstConfirmation(_) | Self::ChangeEmail(_) => VerifyType::EmailChange,
            Self::ConfirmPhone => VerifyType::Sms,
            Self::ChangePhone => VerifyType::PhoneChange,
        }
    }
}

/// Decides the effect of the token of a link; `None` for one that is wrong, used or expired.
pub(crate) fn decide_effect(
    kind: VerifyType,
    token: &str,
    tokens: &PendingTokens,
    rules: VerifyRules,
    now: DateTime<Utc>,
) -> Option<Effect> {
    let expiry = if kind.is_by_phone() {
        rules.sms_expiry
    } else {
        rules.otp_expiry
    };
    let expiry = TimeDelta::from_std(expiry).unwrap_or(TimeDelta::MAX);
    let is_valid = |stored: &str, sent_at: Option<DateTime<Utc>>| {
        matches_stored(token, stored) && sent_at.is_some_and(|sent_at| now - sent_at < expiry)
    };
    let confirmation = || is_valid(&tokens.confirmation, tokens.confirmation_sent_at);
    let recovery = || is_valid(&tokens.recovery, tokens.recovery_sent_at);
    match kind {
        VerifyType::Signup | VerifyType::Invite => confirmation().then_some(Effect::Confirm(kind)),
        VerifyType::MagicLink | VerifyType::Recovery => recovery().then_some(Effect::SignIn(kind)),
        VerifyType::Email if confirmation() => Some(Effect::Confirm(VerifyType::Signup)),
        VerifyType::Email => recovery().then_some(Effect::SignIn(VerifyType::MagicLink)),
        VerifyType::EmailChange => {
            let token = if is_valid(&tokens.email_change_new, tokens.email_change_sent_at) {
                ChangeToken::New
            // A claimed address decides nothing.
            } else if tokens.has_email && is_valid(&tokens.email_change_current, tokens.email_change_sent_at)
            {
                ChangeToken::Current
            } else {
                return None;
            };
            let is_first = rules.double_change && tokens.has_email && tokens.email_change_status == 0;
            Some(if is_first {
                Effect::FirstConfirmation(token)
            } else {
                Effect::ChangeEmail(token)
            })
        }
        VerifyType::Sms => confirmation().then_some(Effect::ConfirmPhone),
        VerifyType::PhoneChange => {
            is_valid(&tokens.phone_change, tokens.phone_change_sent_at).then_some(Effect::ChangePhone)
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
        for (kind, hash, expected) in cases {
            assert_eq!(
                decide_effect(kind, hash, &tokens(), RULES, now()),
                expected,
                "{kind:?} {hash}"
            );
        }
    }

    #[test]
    fn auth_026_expired_tokens_have_no_effect() {
        let later = now() + TimeDelta::seconds(3600);
        assert_eq!(
            decide_effect(VerifyType::Signup, "confirm", &tokens(), RULES, later),
            None
        );
        assert_eq!(
            decide_effect(VerifyType::EmailChange, "new", &tokens(), RULES, later),
            None
        );
    }

    #[test]
    fn auth_094_sms_codes_have_their_own_lifetime() {
        let later = now() + TimeDelta::seconds(60);
        let sms = |at| decide_effect(VerifyType::Sms, "confirm", &tokens(), RULES, at);

        assert_eq!(sms(later), None);
        assert_eq!(sms(now()), Some(Effect::ConfirmPhone));
    }

    #[test]
    fn auth_070_a_secure_email_change_needs_both_addresses() {
        let change = |hash: &str, tokens: &PendingTokens, rules| {
            decide_effect(VerifyType::EmailChange, hash, tokens, rules, now())
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
            Some(Effect::FirstConfirmation(ChangeToken::New))
        );
        assert_eq!(
            change("current", &tokens(), RULES),
            Some(Effect::FirstConfirmation(ChangeToken::Current))
        );
        assert_eq!(
            change("current", &half, RULES),
            Some(Effect::ChangeEmail(ChangeToken::Current))
        );
        assert_eq!(change("new", &half, RULES), None);
        assert_eq!(
            change("new", &without_email, RULES),
            Some(Effect::ChangeEmail(ChangeToken::New))
        );
        let single = VerifyRules {
            double_change: false,
            ..RULES
        };
        assert_eq!(
            change("new", &tokens(), single),
            Some(Effect::ChangeEmail(ChangeToken::New))
        );
    }
}
