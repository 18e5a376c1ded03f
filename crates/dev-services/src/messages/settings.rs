//! Names and URLs of the services.

/// Path of the services on their listener.
pub(super) const ROOT: &str = "/messages";

/// The services by the names of their sections in `[auth.sms]`.
pub const SERVICE_NAMES: [&str; 5] = ["twilio", "twilio_verify", "messagebird", "textlocal", "vonage"];

/// The URL below which a service is answered; the auth service takes it for the service's own.
#[must_use]
pub fn service_url(listener_url: &str, service: &str) -> String {
    format!("{}{ROOT}/{service}", listener_url.trim_end_matches('/'))
}
