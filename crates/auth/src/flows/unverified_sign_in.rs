//! A sign-in by a provider that has not verified the address, to an account that has not proven it either: what is mailed, and what the
//! person is told. Source: Auth contract §2.9, §13.

use deadpool_postgres::Transaction;

use crate::error::AuthError;
use crate::mailer;
use crate::request::AuthRequest;
use crate::store::{contested_accounts, users};
use crate::user::{User, VERIFY_NOTHING};

/// Mails a confirmation to the address (in lowercase) that the provider has not verified, if it is the account's; returns the
/// error that refuses the sign-in.
pub(super) async fn ask_for_proof(
    request: &AuthRequest,
    db: &Transaction<'_>,
    provider: &str,
    user: &User,
    address: &str,
) -> Result<AuthError, AuthError> {
    // A mail to an address that this account waits for, but that the provider does not name any more, would let the owner
    // of that address confirm an account of somebody else.
    // Nor is one sent to an address that an account in use only claims.
    let is_foreign = user.email.to_lowercase() != address || user.only_claims_email();
    let message = if user.email.is_empty() || is_foreign {
        contest_address(request, db, user, address).await?;
        let advice = match VERIFY_NOTHING.contains(&provider) {
            // The account is the person's own and has this identity: there is no other account to link it to.
            true if user.only_claims_email() => {
                "Sign in another way, or ask an administrator to confirm the email of your account".to_owned()
            }
            true => format!("Sign in as before and link {provider} in your account"),
            false => format!("Verify the email with {provider} in order to sign in"),
        };
        format!("Unverified email with {provider}. {advice}")
    } else {
        mailer::send_confirmation(request, db, user, None).await?;
        format!(
            "Unverified email with {provider}. A confirmation email has been sent to your {provider} email"
        )
    };
    Ok(AuthError::ProviderEmailNeedsVerification(message))
}

/// Contests the account of another user that waits for a proof of an address (in lowercase), which this person's provider names,
/// too: the owner of the address may take a mail to it for an answer to the own sign-in, and would confirm somebody else's.
async fn contest_address(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    address: &str,
) -> Result<(), AuthError> {
    let holder = users::find_by_email(db, address, &user.aud).await?;
    if let Some(holder) = holder.filter(|holder| holder.id != user.id) {
        contested_accounts::contest(db, &holder, request.now()).await?;
    }
    Ok(())
}
