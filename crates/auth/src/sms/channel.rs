//! The channel of a text message: SMS or WhatsApp.

use crate::config::SmsProviderConfig;
use crate::error::AuthError;
use crate::hooks::HookPoint;
use crate::state::AuthState;

/// How a message reaches a phone. The request chooses it by `channel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Sms,
    Whatsapp,
}

impl Channel {
    /// Parses `channel` of a request; empty means SMS. WhatsApp needs a provider that supports it. With the hook
    /// `send_sms` every name is accepted, because the hook chooses the channel.
    ///
    /// # Errors
    /// 400 `validation_failed` for a channel that the provider does not support.
    pub(crate) fn parse(name: &str, state: &AuthState) -> Result<Self, AuthError> {
        use SmsProviderConfig::{Twilio, TwilioVerify};
        match name {
            "" | "sms" => Ok(Self::Sms),
            "whatsapp" if matches!(state.config.phone.provider, Some(Twilio(_) | TwilioVerify(_))) => {
                Ok(Self::Whatsapp)
            }
            "whatsapp" if HookPoint::SendSms.is_set(state) => Ok(Self::Whatsapp),
            // The hook gets no channel, so an unknown name makes no difference to it.
            _ if HookPoint::SendSms.is_set(state) => Ok(Self::Sms),
            _ => Err(AuthError::invalid(
                "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or \
                 Twilio Verify is used as the provider.",
            )),
        }
    }

    /// The name in requests and in Twilio's parameter `Channel`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Sms => "sms",
            Self::Whatsapp => "whatsapp",
        }
    }
}
