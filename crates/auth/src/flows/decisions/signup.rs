//! What a sign-up does, depending on whether the address is registered. Source: Auth contract §2.3.

/// Whether the address is registered, and by a confirmed user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExistingUser {
    Nobody,
    Unconfirmed,
    Confirmed,
}

/// The next step of the sign-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignupStep {
    /// Create a user that is confirmed at once, and sign in.
    CreateConfirmed,
    /// Create a user and send a confirmation.
    CreateAndMail,
    /// Change nothing, send the confirmation again.
    MailAgain,
    /// Confirm the user and sign in, if the password is the stored one. Otherwise a sign-up could take over the
    /// account.
    ConfirmWithPassword,
    /// Respond that the address is taken.
    RefuseTaken,
    /// Respond as if a user had been created.
    RespondWithDecoy,
}

/// Decides the step. `autoconfirm`: addresses of this kind need no confirmation. `hides_registered`:
/// addresses of both kinds need one, so the response can hide whether an address is registered.
pub(crate) fn choose_signup_step(
    existing: ExistingUser,
    autoconfirm: bool,
    hides_registered: bool,
) -> SignupStep {
    match (existing, autoconfirm) {
        (ExistingUser::Nobody, true) => SignupStep::CreateConfirmed,
        (ExistingUser::Nobody, false) => SignupStep::CreateAndMail,
        (ExistingUser::Unconfirmed, true) => SignupStep::ConfirmWithPassword,
        (ExistingUser::Unconfirmed, false) => SignupStep::MailAgain,
        (ExistingUser::Confirmed, false) if hides_registered => SignupStep::RespondWithDecoy,
        (ExistingUser::Confirmed, _) => SignupStep::RefuseTaken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_030_031_032_taken_addresses_are_revealed_only_under_autoconfirm() {
        let cases = [
            (ExistingUser::Confirmed, false, true, SignupStep::RespondWithDecoy),
            (ExistingUser::Confirmed, false, false, SignupStep::RefuseTaken),
            (ExistingUser::Confirmed, true, false, SignupStep::RefuseTaken),
            (ExistingUser::Unconfirmed, false, true, SignupStep::MailAgain),
            (
                ExistingUser::Unconfirmed,
                true,
                false,
                SignupStep::ConfirmWithPassword,
            ),
        ];
        for (existing, autoconfirm, hides_registered, step) in cases {
            assert_eq!(
                choose_signup_step(existing, autoconfirm, hides_registered),
                step,
                "{existing:?} {autoconfirm}"
            );
        }
    }
}
