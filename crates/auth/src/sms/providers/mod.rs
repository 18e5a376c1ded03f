//! The services that send text messages, one file each. Secrets are sent in headers or the body, never in a URL,
//! because URLs are logged by proxies and servers.

use crate::config::SmsProviderConfig;
use crate::http_client::HttpClient;

mod messagebird;
mod request;
mod textlocal;
mod twilio;
mod vonage;

pub(super) use request::TextMessage;
pub(super) use twilio::check_verification;

/// Sends a message; returns its id, where the service has one.
///
/// # Errors
/// The service's error text, or why it could not be called. The client gets this text, so it must not contain secrets.
pub(super) async fn send_text(
    http: &HttpClient,
    provider: &SmsProviderConfig,
    text: &TextMessage<'_>,
) -> Result<Option<String>, String> {
    match provider {
        SmsProviderConfig::Twilio(account) => twilio::send_message(http, account, text).await,
        SmsProviderConfig::TwilioVerify(account) => twilio::start_verification(http, account, text).await,
        SmsProviderConfig::Messagebird {
            originator,
            access_key,
            base_url,
        } => messagebird::send_message(http, (originator, access_key, base_url), text).await,
        SmsProviderConfig::Textlocal {
            sender,
            api_key,
            base_url,
        } => textlocal::send_message(http, (sender, api_key, base_url), text).await,
        SmsProviderConfig::Vonage {
            from,
            api_key,
            api_secret,
            base_url,
        } => vonage::send_message(http, (from, api_key, api_secret, base_url), text).await,
    }
}
