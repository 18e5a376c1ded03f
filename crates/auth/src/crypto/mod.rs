//! Password hashes, one-time codes, tokens, PKCE, TOTP and WebAuthn: computations without I/O.

pub(crate) mod counter_token;
pub(crate) mod one_time_code;
pub(crate) mod password_hash;
pub(crate) mod pkce;
pub(crate) mod recovery_code;
pub(crate) mod totp;
pub(crate) mod webauthn;

/// Compares two secrets in constant time, so that response times do not reveal how much of a guess is right. Different
/// lengths are told apart at once: the lengths of codes and hashes are public.
pub(crate) fn equal_secrets(a: &str, b: &str) -> bool {
    use subtle::ConstantTimeEq;
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

/// Like [`equal_secrets`], for hashes.
pub(crate) fn equal_hashes(a: &[u8], b: &[u8]) -> bool {
    use subtle::ConstantTimeEq;
    a.ct_eq(b).into()
}
