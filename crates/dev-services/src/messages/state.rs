//! State that the endpoints of all messaging services share.

use selvedge_mail::Inbox;

use super::verification::Verifications;

/// The inbox that gets the messages, and the codes that Twilio Verify has sent.
pub struct MessagesState {
    pub(super) inbox: Inbox,
    pub(super) verifications: Verifications,
}

impl MessagesState {
    /// Messages go to this inbox.
    #[must_use]
    pub fn new(inbox: Inbox) -> Self {
        Self {
            inbox,
            verifications: Verifications::default(),
        }
    }
}

/// A phone number with one `+`: services differ in whether they want it.
pub(super) fn with_plus(number: &str) -> String {
    format!("+{}", number.trim_start_matches('+'))
}

/// The sender that the phone would show; without a configured sender that is the name of the service.
pub(super) fn sender_or(sender: &str, service: &str) -> String {
    if sender.is_empty() {
        service.to_owned()
    } else {
        sender.to_owned()
    }
}
