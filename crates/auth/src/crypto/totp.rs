//! Time-based one-time codes (RFC 6238) as authenticator apps compute them: SHA-1, six digits, steps of thirty seconds;
//! codes of the steps before and after the current one are accepted. The crate totp-rs computes codes and base 32.
//! Source: Auth contract §2.12.

use qrcodegen::{QrCode, QrCodeEcc};
use totp_rs::{Algorithm, Builder, Secret};

const STEP_SECONDS: u64 = 30;
const DIGITS: u8 = 6;
/// How many steps before and after the current one are accepted, for phones whose clocks are up to 30 s wrong.
const SKEW_STEPS: u16 = 1;
/// Length of new secrets: that of a SHA-1 digest, as RFC 4226 §4 recommends.
const SECRET_BYTES: usize = 20;
/// Width of the empty border around a QR code, in modules (the squares of the code); scanners need four (ISO/IEC
/// 18004).
const QUIET_ZONE: i32 = 4;
/// Width of a module in the picture, in pixels.
const SCALE: i32 = 3;

/// Generates the secret of a new factor: 20 random bytes in base 32.
pub(crate) fn generate_secret() -> String {
    let bytes: [u8; SECRET_BYTES] = rand::random();
    Secret::from(bytes).to_base32()
}

/// Builds the `otpauth:` URI that an authenticator app scans.
///
/// Compat: built here and not by totp-rs, because GoTrue's URI states the default algorithm, digits and period, too,
/// and its issuer may hold a colon (`localhost:3000`); totp-rs leaves the defaults out and rejects the colon.
pub(crate) fn build_uri(secret: &str, issuer: &str, account: &str) -> String {
    let (issuer, account) = (escape(issuer), escape(account));
    format!(
        "otpauth://totp/{issuer}:{account}?algorithm=SHA1&digits={DIGITS}&issuer={issuer}&period={STEP_SECONDS}&secret={secret}"
    )
}

/// Draws the URI as a QR code in SVG; `None` when it is too long for one. Clients put the SVG unencoded into a `data:`
/// URL, where a `#` would start the fragment, so colours are written as names.
pub(crate) fn draw_qr_code(uri: &str) -> Option<String> {
    let code = QrCode::encode_text(uri, QrCodeEcc::Medium).ok()?;
    let side = code.size() + 2 * QUIET_ZONE;
    let mut dark = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            dark.push_str(&format!("M{},{}h1v1h-1z", x + QUIET_ZONE, y + QUIET_ZONE));
        }
    }
    let pixels = side * SCALE;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{pixels}\" height=\"{pixels}\" viewBox=\"0 0 {side} {side}\" \
         shape-rendering=\"crispEdges\"><rect width=\"{side}\" height=\"{side}\" fill=\"white\"/><path d=\"{dark}\" fill=\"black\"/></svg>"
    ))
}

/// The step whose code this is, of a base 32 secret: the step of this time, or the one before or after; `None` for a wrong code.
/// Spaces around the code are ignored. The caller accepts each step once (RFC 6238 §5.2).
pub(crate) fn find_step(secret: &str, code: &str, unix_seconds: i64) -> Option<i64> {
    // Rows imported from other projects may hold secrets in lowercase or with padding.
    let secret = secret.trim_end_matches('=').to_ascii_uppercase();
    let secret = Secret::try_from_base32(secret).ok()?;
    let time = u64::try_from(unix_seconds).ok()?;
    // With an empty key everybody could compute the codes.
    if secret.as_bytes().is_empty() {
        return None;
    }
    let step = Builder::new()
        .with_algorithm(Algorithm::SHA1)
        .with_digits(DIGITS)
        .with_skew(SKEW_STEPS)
        .with_step_duration(STEP_SECONDS)
        .with_secret(secret)
        // `build` would reject secrets below 128 bits, but rows imported from another project may have them.
        .build_noncompliant()
        .check(code.trim(), time)?;
    i64::try_from(step).ok()
}

/// Percent-encodes text for a path or a query. A space becomes `%20`, because authenticator apps show a `+` literally.
/// `@` stays as it is, as in GoTrue's URIs.
fn escape(text: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    encoded.replace('+', "%20").replace("%40", "@")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of RFC 6238, appendix B.
    const SECRET: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

    fn is_valid_code(secret: &str, code: &str, unix_seconds: i64) -> bool {
        find_step(secret, code, unix_seconds).is_some()
    }

    #[test]
    fn auth_075_a_code_belongs_to_one_step_whenever_it_is_presented() {
        for time in [59, 59 + 30, 59 - 30] {
            assert_eq!(find_step(SECRET, "287082", time), Some(1), "{time}");
        }
    }

    #[test]
    fn auth_075_codes_of_rfc_6238_are_accepted_one_step_early_or_late_but_not_three() {
        for (time, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_234_567_890, "005924"),
            (20_000_000_000, "353130"),
        ] {
            assert!(is_valid_code(SECRET, code, time), "{time}");
            assert!(
                is_valid_code(SECRET, code, time + 30) && is_valid_code(SECRET, code, time - 30),
                "{time}"
            );
            assert!(
                !is_valid_code(SECRET, code, time + 90) && !is_valid_code(SECRET, code, time - 90),
                "{time}"
            );
        }
        for wrong in ["", "287083", "28708", "2870820", "abcdef"] {
            assert!(!is_valid_code(SECRET, wrong, 59), "{wrong}");
        }
        assert!(!is_valid_code("", "287082", 59) && !is_valid_code("!", "287082", 59));
    }

    #[test]
    fn new_secrets_are_twenty_bytes_in_base_32_without_padding() {
        let secret = generate_secret();

        assert_eq!(secret.len(), 32);
        assert!(
            secret
                .bytes()
                .all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7'))
        );
        assert_eq!(
            Secret::from(*b"12345678901234567890").to_base32(),
            SECRET,
            "the alphabet of RFC 4648"
        );
    }

    #[test]
    fn stored_secrets_may_be_lowercase_padded_or_short() {
        let short = Secret::from(b"12345".to_vec()).to_base32();
        let totp = Builder::new()
            .with_algorithm(Algorithm::SHA1)
            .with_secret(b"12345".to_vec())
            .build_noncompliant();

        assert!(is_valid_code(&SECRET.to_lowercase(), " 287082 ", 59));
        assert!(is_valid_code(&format!("{SECRET}===="), "287082", 59));
        assert!(is_valid_code(&short, &totp.generate(59).to_string(), 59));
    }

    #[test]
    fn auth_075_the_uri_names_issuer_and_account_and_fits_a_qr_code() {
        let uri = build_uri(SECRET, "my site:3000", "ana+x@example.com");

        assert_eq!(
            uri,
            format!(
                "otpauth://totp/my%20site%3A3000:ana%2Bx@example.com?algorithm=SHA1&digits=6&issuer=my%20site%3A3000\
                 &period=30&secret={SECRET}"
            )
        );
        let svg = draw_qr_code(&uri).expect("it fits");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>") && !svg.contains('#'));
    }
}
