//! What a password must look like. Source: Auth contract §5.

use crate::config::PasswordConfig;
use crate::error::{AuthError, WeakPassword, WeakReason};

/// bcrypt reads no further.
const LONGEST_BYTES: usize = 72;
/// No setting goes below this.
const SHORTEST_BYTES: usize = 6;

/// Refuses what bcrypt cannot hash as a whole.
///
/// # Errors
/// 400 `validation_failed` above 72 bytes.
pub(crate) fn check_length(password: &str) -> Result<(), AuthError> {
    if password.len() > LONGEST_BYTES {
        return Err(AuthError::invalid("Password cannot be longer than 72 characters"));
    }
    if password.contains('\0') {
        return Err(AuthError::invalid("Password cannot contain a null character"));
    }
    Ok(())
}

/// Names every rule that the password breaks.
///
/// # Errors
/// [`WeakPassword`] with the reasons.
pub(crate) fn strength(password: &str, rules: &PasswordConfig) -> Result<(), WeakPassword> {
    let least = rules.min_length.max(SHORTEST_BYTES);
    let mut reasons = Vec::new();
    let mut messages = Vec::new();
    if password.len() < least {
        reasons.push(WeakReason::Length);
        messages.push(format!("Password should be at least {least} characters."));
    }
    if rules
        .required_characters
        .iter()
        .any(|set| !password.contains(|c| set.contains(c)))
    {
        reasons.push(WeakReason::Characters);
        let sets = rules.required_characters.join(", ");
        messages.push(format!(
            "Password should contain at least one character of each: {sets}."
        ));
    }
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(WeakPassword {
            message: messages.join(" "),
            reasons,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(min_length: usize, requirements: &str) -> PasswordConfig {
        let required_characters = PasswordConfig::character_sets(requirements).expect("a known preset");
        PasswordConfig {
            min_length,
            required_characters,
            ..PasswordConfig::default()
        }
    }

    #[test]
    fn auth_034_short_passwords_are_weak() {
        let weak = strength("12345", &rules(3, "")).expect_err("five characters are too few");

        assert_eq!(weak.message, "Password should be at least 6 characters.");
        assert_eq!(weak.reasons, [WeakReason::Length]);
    }

    #[test]
    fn several_reasons_are_given_at_once() {
        let weak = strength("abc", &rules(8, "lower_upper_letters_digits_symbols")).expect_err("weak twice");

        assert_eq!(weak.reasons, [WeakReason::Length, WeakReason::Characters]);
        assert!(strength("Abcdef1!", &rules(8, "lower_upper_letters_digits_symbols")).is_ok());
    }

    #[test]
    fn auth_035_more_than_72_bytes_are_refused_first() {
        assert!(matches!(
            check_length(&"x".repeat(73)),
            Err(AuthError::Validation(_))
        ));
        assert!(check_length(&"x".repeat(72)).is_ok());
    }
}
