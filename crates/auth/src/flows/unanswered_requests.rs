//! Requests for a code that send nothing, because nobody waits for one at the address: they are limited and noted like those that
//! send one, so that neither a missing 429 nor the answers to later attempts tell which addresses are registered. Source: Auth contract
//! §11, user enumeration.

use deadpool_postgres::GenericClient;

use crate::error::AuthError;
use crate::request::AuthRequest;
use crate::state::rate_limits::LimitedEndpoint;
use crate::store::code_requests;

/// Where the code would have been sent to, in the stored form.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Recipient<'a> {
    Email(&'a str),
    Phone(&'a str),
}

/// Counts the request against the pause between two messages to one address, and notes it.
///
/// # Errors
/// 429 `over_email_send_rate_limit` or `over_sms_send_rate_limit`.
pub(crate) async fn count_unanswered(
    request: &AuthRequest,
    db: &impl GenericClient,
    endpoint: LimitedEndpoint,
    recipient: Recipient<'_>,
) -> Result<(), AuthError> {
    let limits = &request.state.limits;
    match recipient {
        Recipient::Email(email) => limits.check_unknown_address(endpoint, email)?,
        Recipient::Phone(phone) => limits.check_unknown_phone(endpoint, phone)?,
    }
    note_unanswered(request, db, recipient).await
}

/// Notes the request alone, where there is no pause to keep.
pub(crate) async fn note_unanswered(
    request: &AuthRequest,
    db: &impl GenericClient,
    recipient: Recipient<'_>,
) -> Result<(), AuthError> {
    let (Recipient::Email(address) | Recipient::Phone(address)) = recipient;
    if let Some(network) = request.info.asking_network() {
        code_requests::record(db, &request.state.code_key, (address, network), false).await?;
    }
    Ok(())
}
