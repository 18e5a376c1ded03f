//! What counts as an e-mail address, and how addresses are written before they are looked up, hashed and stored.
//!
//! ASCII only, like upstream: an address with look-alike letters of another script is refused, never confused with another.

use crate::error::AuthError;

const LONGEST: usize = 255;

/// Checks the form of an address and lowercases it.
///
/// # Errors
/// 400 `validation_failed` for a missing, too long or malformed address.
pub(crate) fn parse_email(address: &str) -> Result<String, AuthError> {
    if address.is_empty() {
        return Err(AuthError::invalid("An email address is required"));
    }
    if address.len() > LONGEST {
        return Err(AuthError::invalid("An email address is too long"));
    }
    if !is_email(address) {
        return Err(AuthError::invalid(
            "Unable to validate email address: invalid format",
        ));
    }
    Ok(address.to_ascii_lowercase())
}

/// Checks the form of a phone number (E.164) and takes `+` and spaces away, as numbers are looked up, hashed and stored.
///
/// # Errors
/// 400 `validation_failed`.
pub(crate) fn parse_phone(phone: &str) -> Result<String, AuthError> {
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

fn is_email(address: &str) -> bool {
    let Some((local, domain)) = address.split_once('@') else {
        return false;
    };
    !local.is_empty() && local.bytes().all(is_local_byte) && domain.split('.').all(is_label)
}

fn is_local_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte)
}

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
    fn auth_037_addresses_are_lowercased() {
        assert_eq!(
            parse_email("Foo@Bar.com").expect("a valid address"),
            "foo@bar.com"
        );
    }

    #[test]
    fn auth_094_phones_carry_neither_plus_nor_spaces() {
        assert_eq!(parse_phone("+49 170 1234567").expect("a number"), "491701234567");
        for phone in [
            "",
            "+",
            "1",
            "0170123",
            "+49x170",
            "++49170",
            "1234567890123456",
            "４９１７０",
        ] {
            assert!(parse_phone(phone).is_err(), "{phone}");
        }
    }

    #[test]
    fn malformed_addresses_are_refused() {
        for address in [
            "",
            "a",
            "a@",
            "@b.c",
            "a b@c.d",
            "a@b..c",
            "a@-b.c",
            "a@b.c\r\nBcc: x@y.z",
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
