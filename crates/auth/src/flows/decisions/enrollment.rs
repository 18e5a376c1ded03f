//! Whether a user may add one more second factor. Source: Auth contract §2.12.

use crate::config::MfaConfig;
use crate::store::factors::Factor;

/// Why the factor may not be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnrollmentRefusal {
    NameConflict,
    TooMany,
    NeedsSecondFactor,
}

/// Checks a new factor against the user's factors and the project's limits.
///
/// # Errors
/// [`EnrollmentRefusal`] for the first rule that is violated.
pub(crate) fn check_new_factor(
    factors: &[Factor],
    name: &str,
    has_second_factor_session: bool,
    limits: &MfaConfig,
) -> Result<(), EnrollmentRefusal> {
    // Compat: the empty name is unique as well, as with upstream.
    if factors.iter().any(|factor| factor.friendly_name == name) {
        return Err(EnrollmentRefusal::NameConflict);
    }
    let verified = factors.iter().filter(|factor| factor.is_verified).count();
    if factors.len() >= limits.max_enrolled_factors || verified >= limits.max_verified_factors {
        return Err(EnrollmentRefusal::TooMany);
    }
    if verified > 0 && !has_second_factor_session {
        return Err(EnrollmentRefusal::NeedsSecondFactor);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::store::factors::FactorType;

    fn factor(name: &str, is_verified: bool) -> Factor {
        Factor {
            id: Uuid::new_v4(),
            kind: FactorType::Totp,
            is_verified,
            friendly_name: name.to_owned(),
            secret: String::new(),
            phone: String::new(),
            last_challenged_at: None,
            credential: None,
        }
    }

    #[test]
    fn auth_077_enrolment_checks_name_count_and_assurance_level() {
        let limits = MfaConfig {
            max_enrolled_factors: 3,
            max_verified_factors: 2,
            ..MfaConfig::default()
        };
        let cases = [
            (vec![], "a", false, Ok(())),
            (
                vec![factor("a", false)],
                "a",
                true,
                Err(EnrollmentRefusal::NameConflict),
            ),
            (
                vec![factor("", false)],
                "",
                true,
                Err(EnrollmentRefusal::NameConflict),
            ),
            (vec![factor("a", false)], "b", false, Ok(())),
            (
                vec![factor("a", true)],
                "b",
                false,
                Err(EnrollmentRefusal::NeedsSecondFactor),
            ),
            (vec![factor("a", true)], "b", true, Ok(())),
            (
                vec![factor("a", true), factor("b", true)],
                "c",
                true,
                Err(EnrollmentRefusal::TooMany),
            ),
            (
                vec![factor("a", false), factor("b", false), factor("c", false)],
                "d",
                true,
                Err(EnrollmentRefusal::TooMany),
            ),
        ];
        for (factors, name, has_second_factor_session, expected) in cases {
            assert_eq!(
                check_new_factor(&factors, name, has_second_factor_session, &limits),
                expected,
                "{factors:?} {name}"
            );
        }
    }
}
