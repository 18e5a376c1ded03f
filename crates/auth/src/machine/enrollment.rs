//! Whether a user may add one more second factor. Source: Auth contract §2.12.

use crate::config::MfaConfig;
use crate::store::factors::Factor;

/// Why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    NameConflict,
    TooMany,
    NeedsSecondFactor,
}

/// Decides, given what the user has.
///
/// # Errors
/// [`Refusal`] with the first rule that says no.
pub(crate) fn check(
    factors: &[Factor],
    name: &str,
    shows_second_factor: bool,
    limits: &MfaConfig,
) -> Result<(), Refusal> {
    // Compat: two factors without a name conflict, too.
    if factors.iter().any(|factor| factor.friendly_name == name) {
        return Err(Refusal::NameConflict);
    }
    let verified = factors.iter().filter(|factor| factor.is_verified).count();
    if factors.len() >= limits.max_enrolled_factors || verified >= limits.max_verified_factors {
        return Err(Refusal::TooMany);
    }
    if verified > 0 && !shows_second_factor {
        return Err(Refusal::NeedsSecondFactor);
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
    fn auth_077_names_numbers_and_levels_decide() {
        let limits = MfaConfig {
            max_enrolled_factors: 3,
            max_verified_factors: 2,
            ..MfaConfig::default()
        };
        let cases = [
            (vec![], "a", false, Ok(())),
            (vec![factor("a", false)], "a", true, Err(Refusal::NameConflict)),
            (vec![factor("", false)], "", true, Err(Refusal::NameConflict)),
            (vec![factor("a", false)], "b", false, Ok(())),
            (
                vec![factor("a", true)],
                "b",
                false,
                Err(Refusal::NeedsSecondFactor),
            ),
            (vec![factor("a", true)], "b", true, Ok(())),
            (
                vec![factor("a", true), factor("b", true)],
                "c",
                true,
                Err(Refusal::TooMany),
            ),
            (
                vec![factor("a", false), factor("b", false), factor("c", false)],
                "d",
                true,
                Err(Refusal::TooMany),
            ),
        ];
        for (factors, name, shows, expected) in cases {
            assert_eq!(
                check(&factors, name, shows, &limits),
                expected,
                "{factors:?} {name}"
            );
        }
    }
}
