//! The ways in which a sign-in ends: it succeeds, or it fails as sign-ins with real providers do.

use super::person::Person;

/// The end of a sign-in that the developer chooses on the page, or a test by `dev_outcome`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Outcome {
    /// The provider signs the person in.
    #[default]
    Success,
    /// The person refuses on the provider's page.
    Cancelled,
    /// The provider responds with an error before the sign-in.
    ProviderError,
    /// The provider returns no e-mail address.
    NoEmail,
    /// The provider responds that the address is not verified.
    UnverifiedEmail,
    /// The token endpoint answers after four seconds.
    Slow,
    /// The code was exchanged before, as when a callback is loaded twice.
    CodeUsedTwice,
    /// The code is too old when it is exchanged.
    Expired,
}

/// Outcomes of a sign-in in which a person is chosen, with the labels of the page.
pub(super) const WITH_PERSON: [(Outcome, &str, &str); 6] = [
    (Outcome::Success, "success", "Sign-in succeeds"),
    (Outcome::NoEmail, "no_email", "Provider gives no e-mail address"),
    (
        Outcome::UnverifiedEmail,
        "unverified_email",
        "E-mail address is not verified",
    ),
    (Outcome::Slow, "slow", "Provider answers slowly (4 seconds)"),
    (Outcome::CodeUsedTwice, "code_used_twice", "Code was used before"),
    (Outcome::Expired, "expired", "Code has expired"),
];

impl Outcome {
    /// Reads a form value or `dev_outcome`; an empty one means success, an unknown one is `None`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "" => Some(Self::Success),
            "cancelled" => Some(Self::Cancelled),
            "provider_error" => Some(Self::ProviderError),
            _ => WITH_PERSON
                .iter()
                .find(|(_, name, _)| *name == text)
                .map(|(outcome, ..)| *outcome),
        }
    }

    /// Whether the sign-in ends at the provider, so that no person is needed.
    pub(super) fn ends_at_provider(self) -> bool {
        matches!(self, Self::Cancelled | Self::ProviderError)
    }

    /// The person as the provider describes them in a sign-in with this outcome.
    pub(super) fn apply_to(self, mut person: Person) -> Person {
        match self {
            Self::NoEmail => person.email = None,
            Self::UnverifiedEmail => person.email_verified = false,
            _ => {}
        }
        person
    }
}
