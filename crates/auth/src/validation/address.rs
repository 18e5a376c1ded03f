//! Validation of e-mail addresses and phone numbers, and the form in which they are looked up, hashed and stored.
//!
//! Addresses are ASCII only, as in GoTrue, so that look-alike letters of another script cannot imitate an existing
//! address.

use crate::error::AuthError;

/// Width of the column `auth.users.email` (`varchar(255)`).
const MAX_EMAIL_BYTES: usize = 255;

/// Validates an e-mail address and returns it in lowercase, local part included, because users type both cases.
///
/// # Errors
/// 400 `validation_failed` for a missing, too long or malformed address.
pub(crate) fn parse_email(address: &str) -> Result<String, AuthError> {
    if address.is_empty() {
        return Err(AuthError::invalid("An email address is required"));
    }
    if address.len() > MAX_EMAIL_BYTES {
        return Err(AuthError::invalid("An email address is too long"));
    }
    if !is_email(address) {
        return Err(AuthError::invalid(
            "Unable to validate email address: invalid format",
        ));
    }
    Ok(address.to_ascii_lowercase())
}

/// Validates a phone number (E.164) and removes `+` and spaces.
///
/// # Errors
/// 400 `validation_failed` for anything but 2 to 15 digits without a leading zero.
pub(crate) fn parse_phone(phone: &str) -> Result<String, AuthError> {
    // At most one `+` is removed, so `++49…` fails below instead of naming the same number in a second way.
    let digits = phone.strip_prefix('+').unwrap_or(phone).replace(' ', "");
    let is_number = (2..=15).contains(&digits.len())
        && !digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        Ok(digits)
    } else {
        Err(AuthError::invalid("Invalid phone number format (E.164 required)"))
    }
}

/// Whether the address is `local@domain` in the syntax of an HTML e-mail input, which has no quotes, comments or IP
/// addresses.
fn is_email(address: &str) -> bool {
    let Some((local, domain)) = address.split_once('@') else {
        return false;
    };
    !local.is_empty() && local.bytes().all(is_local_byte) && domain.split('.').all(is_label)
}

fn is_local_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte)
}

/// Whether the text is one label of a host name (RFC 1123 §2.1): letters, digits and inner hyphens, at most 63 of them.
fn is_label(label: &str) -> bool {
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    label.len() <= 63
        && edge(label.bytes().next())
        && edge(label.bytes().last())
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_037_parse_email_returns_lowercase() {
        assert_eq!(
            parse_email("Foo@Bar.com").expect("a valid address"),
            "foo@bar.com"
        );
    }

    #[test]
    fn auth_094_parse_phone_removes_plus_and_spaces_and_rejects_other_text() {
        assert_eq!(parse_phone("+49 170 1234567").expect("a number"), "491701234567");
        for phone in [
            "",
            "+",
            "1",
            "0170123",
            "+49x170",
            "++49170",
            "1234567890123456",
            // Full-width digits, which Unicode counts as digits.
            "４９１７０",
        ] {
            assert!(parse_phone(phone).is_err(), "{phone}");
        }
    }

    #[test]
    fn parse_email_rejects_malformed_and_non_ascii_addresses() {
        for address in [
            "",
            "a",
            "a@",
            "@b.c",
            "a b@c.d",
            "a@b..c",
            "a@-b.c",
            "a@b.c\r\nBcc: x@y.z",
            // The first letter is the Cyrillic look-alike of `a`.
            "аna@example.com",
            "a@b@c.d",
        ] {
            assert!(parse_email(address).is_err(), "{address:?}");
        }
        assert!(parse_email(&format!("{}@b.c", "a".repeat(252))).is_err());
        for address in ["a@b", "a.b+c@d-e.co.uk", "o'hara@x.org"] {
            assert!(parse_email(address).is_ok(), "{address:?}");
        }
    }
}
