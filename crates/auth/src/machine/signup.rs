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
    /// Create a user and mail a confirmation.
    CreateAndMail,
    /// Change nothing, mail the confirmation again.
    MailAgain,
    /// Confirm the user and sign in, if the password is the stored one; nobody may take over an account by signing up again.
    ConfirmWithPassword,
    /// Say that the address is taken.
    RefuseTaken,
    /// Answer as if a user had been created.
    AnswerDecoy,
}

/// Decides the step. `autoconfirm`: nobody needs to confirm e-mail addresses, so that there is nothing to hide either.
pub(crate) fn signup_step(existing: Existing, autoconfirm: bool) -> SignupStep {
    match (existing, autoconfirm) {
        (Existing::Nobody, true) => SignupStep::CreateConfirmed,
        (Existing::Nobody, false) => SignupStep::CreateAndMail,
        (Existing::Unconfirmed, true) => SignupStep::ConfirmWithPassword,
        (Existing::Unconfirmed, false) => SignupStep::MailAgain,
        (Existing::Confirmed, true) => SignupStep::RefuseTaken,
        (Existing::Confirmed, false) => SignupStep::AnswerDecoy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_030_031_032_taken_addresses_are_told_only_under_autoconfirm() {
        assert_eq!(signup_step(Existing::Confirmed, false), SignupStep::AnswerDecoy);
        assert_eq!(signup_step(Existing::Confirmed, true), SignupStep::RefuseTaken);
        assert_eq!(signup_step(Existing::Unconfirmed, false), SignupStep::MailAgain);
        assert_eq!(
            signup_step(Existing::Unconfirmed, true),
            SignupStep::ConfirmWithPassword
        );
    }
}
