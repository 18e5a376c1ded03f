//! Time-based one-time codes (RFC 6238) as authenticator apps make them: SHA-1, six digits, thirty seconds, one step of
//! tolerance to each side. Source: Auth contract §2.12.

use hmac::{Hmac, KeyInit, Mac};
use qrcodegen::{QrCode, QrCodeEcc};
use sha1::Sha1;

use super::equal_secrets;

const STEP_SECONDS: i64 = 30;
const DIGITS: usize = 6;
const KEY_BYTES: usize = 20;
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// Modules around the code that scanners need.
const QUIET: i32 = 4;
/// Pixels of a module.
const SCALE: i32 = 3;

/// A fresh key in base 32, as people type it.
pub(crate) fn new_secret() -> String {
    let key: [u8; KEY_BYTES] = rand::random();
    encode_base32(&key)
}

/// What an authenticator app reads: whose code it makes, for what, and from which key.
pub(crate) fn uri(secret: &str, issuer: &str, account: &str) -> String {
    let (issuer, account) = (escape(issuer), escape(account));
    format!(
        "otpauth://totp/{issuer}:{account}?algorithm=SHA1&digits={DIGITS}&issuer={issuer}&period={STEP_SECONDS}&secret={secret}"
    )
}

/// The same as a picture: an SVG that needs no escaping but `#` in a data URL, and has none.
pub(crate) fn qr_svg(uri: &str) -> Option<String> {
    let code = QrCode::encode_text(uri, QrCodeEcc::Medium).ok()?;
    let side = code.size() + 2 * QUIET;
    let mut dark = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            dark.push_str(&format!("M{},{}h1v1h-1z", x + QUIET, y + QUIET));
        }
    }
    let pixels = side * SCALE;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{pixels}\" height=\"{pixels}\" viewBox=\"0 0 {side} {side}\" \
         shape-rendering=\"crispEdges\"><rect width=\"{side}\" height=\"{side}\" fill=\"white\"/><path d=\"{dark}\" fill=\"black\"/></svg>"
    ))
}

/// Whether `code` is the code of `secret` at this time, or of the step before or after.
pub(crate) fn is_valid(secret: &str, code: &str, unix_seconds: i64) -> bool {
    let Some(key) = decode_base32(secret).filter(|key| !key.is_empty()) else {
        return false;
    };
    let code = code.trim();
    let step = unix_seconds.div_euclid(STEP_SECONDS);
    (-1..=1)
        .map(|skew| code_at(&key, step + skew))
        .fold(false, |found, expected| found | equal_secrets(&expected, code))
}

fn code_at(key: &[u8], step: i64) -> String {
    let mut mac = Hmac::<Sha1>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(&step.to_be_bytes());
    let digest = mac.finalize().into_bytes();
    let at = usize::from(digest[digest.len() - 1] & 0x0f);
    let number =
        u32::from_be_bytes([digest[at], digest[at + 1], digest[at + 2], digest[at + 3]]) & 0x7fff_ffff;
    format!("{:0DIGITS$}", number % 10_u32.pow(6))
}

fn encode_base32(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(5) {
        let mut group = [0; 5];
        group[..chunk.len()].copy_from_slice(chunk);
        let number = group
            .iter()
            .fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
        let characters = (chunk.len() * 8).div_ceil(5);
        text.extend(
            (0..characters).map(|index| char::from(BASE32[((number >> (35 - 5 * index)) & 31) as usize])),
        );
    }
    text
}

fn decode_base32(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut number, mut bits) = (Vec::new(), 0_u32, 0);
    for character in text.trim_end_matches('=').bytes() {
        let value = BASE32
            .iter()
            .position(|known| *known == character.to_ascii_uppercase())?;
        number = (number << 5) | u32::try_from(value).ok()?;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((number >> bits) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

/// Percent-encodes for a path or a query, with `%20` for a space: apps show a `+` as it stands, and addresses with their `@`.
fn escape(text: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    encoded.replace('+', "%20").replace("%40", "@")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of RFC 6238, appendix B.
    const SECRET: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

    #[test]
    fn auth_075_codes_are_those_of_the_rfc() {
        for (time, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_234_567_890, "005924"),
            (20_000_000_000, "353130"),
        ] {
            assert!(is_valid(SECRET, code, time), "{time}");
            assert!(
                is_valid(SECRET, code, time + 30) && is_valid(SECRET, code, time - 30),
                "{time}"
            );
            assert!(
                !is_valid(SECRET, code, time + 90) && !is_valid(SECRET, code, time - 90),
                "{time}"
            );
        }
        for wrong in ["", "287083", "28708", "2870820", "abcdef"] {
            assert!(!is_valid(SECRET, wrong, 59), "{wrong}");
        }
        assert!(!is_valid("", "287082", 59) && !is_valid("!", "287082", 59));
    }

    #[test]
    fn keys_survive_base_32() {
        for length in 0..=21 {
            let bytes: Vec<u8> = (0..length).map(|index: u8| index.wrapping_mul(13)).collect();
            assert_eq!(decode_base32(&encode_base32(&bytes)), Some(bytes));
        }
        assert_eq!(new_secret().len(), 32);
        assert_eq!(encode_base32(b"12345678901234567890"), SECRET);
    }

    #[test]
    fn auth_075_the_picture_holds_the_uri() {
        let uri = uri(SECRET, "my site:3000", "ana+x@example.com");

        assert_eq!(
            uri,
            format!(
                "otpauth://totp/my%20site%3A3000:ana%2Bx@example.com?algorithm=SHA1&digits=6&issuer=my%20site%3A3000\
                 &period=30&secret={SECRET}"
            )
        );
        let svg = qr_svg(&uri).expect("it fits");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>") && !svg.contains('#'));
    }
}
