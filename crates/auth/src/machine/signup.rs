//! What a sign-up does, given what exists already. Source: Auth contract §2.3.

/// What the address belongs to so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    Nobody,
    Unconfirmed,
    Confirmed,
}

/// What follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignupStep {
    /// Create a user that is confirmed at once, and sign in.
    CreateConfirmed,
    /// Create a user and send a confirmation.
    CreateAndMail,
    /// Change nothing, send the confirmation again.
    MailAgain,
    /// Confirm the user and sign in, if the password is the stored one; nobody may take over an account by signing up again.
    ConfirmWithPassword,
    /// Say that the address is taken.
    RefuseTaken,
    /// Answer as if a user had been created.
    AnswerDecoy,
}

/// Decides the step. `autoconfirm`: nobody needs to confirm addresses of this kind. `hides`: addresses of every kind must be
/// confirmed, so that who is registered can be hidden.
pub(crate) fn signup_step(existing: Existing, autoconfirm: bool, hides: bool) -> SignupStep {
    match (existing, autoconfirm) {
        (Existing::Nobody, true) => SignupStep::CreateConfirmed,
        (Existing::Nobody, false) => SignupStep::CreateAndMail,
        (Existing::Unconfirmed, true) => SignupStep::ConfirmWithPassword,
        (Existing::Unconfirmed, false) => SignupStep::MailAgain,
        (Existing::Confirmed, false) if hides => SignupStep::AnswerDecoy,
        (Existing::Confirmed, _) => SignupStep::RefuseTaken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_030_031_032_taken_addresses_are_told_only_under_autoconfirm() {
        let cases = [
            (Existing::Confirmed, false, true, SignupStep::AnswerDecoy),
            (Existing::Confirmed, false, false, SignupStep::RefuseTaken),
            (Existing::Confirmed, true, false, SignupStep::RefuseTaken),
            (Existing::Unconfirmed, false, true, SignupStep::MailAgain),
            (
                Existing::Unconfirmed,
                true,
                false,
                SignupStep::ConfirmWithPassword,
            ),
        ];
        for (existing, autoconfirm, hides, step) in cases {
            assert_eq!(
                signup_step(existing, autoconfirm, hides),
                step,
                "{existing:?} {autoconfirm}"
            );
        }
    }
}
