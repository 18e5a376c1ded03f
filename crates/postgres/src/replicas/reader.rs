//! The caller of a read, and what is known about the caller's own writes.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Callers who must see their own writes: a user with all sessions, or a role whose tokens have no `sub`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Writer(pub(super) u64);

impl Writer {
    /// Returns the writer of claims: the user in `sub`. Without `sub` all callers with the same role are one writer, and
    /// those without a role another one.
    pub fn from_claims(subject: Option<&str>, role: Option<&str>) -> Self {
        let mut hasher = DefaultHasher::new();
        match subject {
            Some(subject) => (true, subject).hash(&mut hasher),
            None => (false, role).hash(&mut hasher),
        }
        // Two writers with the same hash only read from the primary a little more often than needed.
        Self(hasher.finish())
    }
}

/// The caller of a read, and what the request reveals about writes through other nodes.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    pub writer: Writer,
    /// When the token was issued, in Unix seconds. Signing up writes before there is a token, so a new token counts as
    /// a write.
    pub token_issued_s: Option<i64>,
    /// Whether the browser's cookie says that its last write went through another node.
    pub wrote_elsewhere: bool,
}

impl Reader {
    /// Creates a reader. `token_issued_s` is the token's `iat` in seconds since 1970, which may have fractions (RFC 7519 §2).
    pub fn new(writer: Writer, token_issued_s: Option<f64>, wrote_elsewhere: bool) -> Self {
        Self {
            writer,
            #[expect(
                clippy::cast_possible_truncation,
                reason = "fractions of a second are dropped; the cast saturates"
            )]
            token_issued_s: token_issued_s.map(|seconds| seconds as i64),
            wrote_elsewhere,
        }
    }
}
