//! Rules for new passwords: length and required characters. Source: Auth contract §5.

use crate::config::PasswordConfig;
use crate::error::{AuthError, WeakPassword, WeakReason};

/// bcrypt ignores everything after 72 bytes, so the first 72 bytes of a longer password would be enough to sign in.
const MAX_BYTES: usize = 72;
/// Lower bound of `minimum_password_length`, as in GoTrue; smaller configured values are raised to it.
const MIN_CHARACTERS: usize = 6;

/// Rejects a password that bcrypt cannot hash as a whole.
///
/// # Errors
/// 400 `validation_failed` above 72 bytes, or with a null character, at which bcrypt stops reading.
pub(crate) fn check_length(password: &str) -> Result<(), AuthError> {
    if password.len() > MAX_BYTES {
        return Err(AuthError::invalid("Password cannot be longer than 72 characters"));
    }
    if password.contains('\0') {
        return Err(AuthError::invalid("Password cannot contain a null character"));
    }
    Ok(())
}

/// Checks a password against the project's rules.
///
/// # Errors
/// [`WeakPassword`] with every rule that the password breaks, so that a form can show all of them at once.
pub(crate) fn check_strength(password: &str, rules: &PasswordConfig) -> Result<(), WeakPassword> {
    let least = rules.min_length.max(MIN_CHARACTERS);
    let mut reasons = Vec::new();
    let mut messages = Vec::new();
    if password.chars().count() < least {
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
    fn auth_034_passwords_under_six_characters_are_weak_even_if_the_project_allows_three() {
        let weak = check_strength("12345", &rules(3, "")).expect_err("five characters are too few");

        assert_eq!(weak.message, "Password should be at least 6 characters.");
        assert_eq!(weak.reasons, [WeakReason::Length]);
    }

    #[test]
    fn auth_211_a_password_is_as_long_as_its_characters_are_many() {
        // Ten bytes.
        assert!(check_strength("ééééé", &rules(6, "")).is_err());
        assert!(check_strength("éééééé", &rules(6, "")).is_ok());
    }

    #[test]
    fn weak_password_lists_every_broken_rule() {
        let weak =
            check_strength("abc", &rules(8, "lower_upper_letters_digits_symbols")).expect_err("weak twice");

        assert_eq!(weak.reasons, [WeakReason::Length, WeakReason::Characters]);
        assert!(check_strength("Abcdef1!", &rules(8, "lower_upper_letters_digits_symbols")).is_ok());
    }

    #[test]
    fn auth_035_rejects_passwords_over_72_bytes() {
        assert!(matches!(
            check_length(&"x".repeat(73)),
            Err(AuthError::Validation(_))
        ));
        assert!(check_length(&"x".repeat(72)).is_ok());
    }
}
