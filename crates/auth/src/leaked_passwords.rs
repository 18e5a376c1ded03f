//! Whether a password is good enough: the project's rules, and a public list of leaked ones. Source: Auth contract §5.
//!
//! The list is asked by the first five characters of the password's SHA-1 only: it learns neither password nor user, and its
//! answer holds some hundred others.

use std::fmt::Write;
use std::time::Duration;

use hyper::header::HeaderName;
use sha1::{Digest, Sha1};

use crate::config::LeakedPasswordConfig;
use crate::error::{AuthError, WeakPassword, WeakReason};
use crate::http_client::{Call, CallError};
use crate::rules::password;
use crate::state::AuthState;

const LIMIT: Duration = Duration::from_secs(5);
const LARGEST_ANSWER_BYTES: usize = 512 * 1024;
const MESSAGE: &str = "Password is known to be weak and easy to guess, please choose a different one.";

/// Refuses a new password that cannot be hashed, breaks a rule or has leaked.
///
/// # Errors
/// 400 `validation_failed` above 72 bytes, 422 `weak_password` otherwise.
pub(crate) async fn check(state: &AuthState, password: &str) -> Result<(), AuthError> {
    password::check_length(password)?;
    match judge(state, password).await {
        Some(weak) => Err(AuthError::WeakPassword(weak)),
        None => Ok(()),
    }
}

/// Everything that is weak about a password.
pub(crate) async fn judge(state: &AuthState, password: &str) -> Option<WeakPassword> {
    let by_rules = password::strength(password, &state.config.password).err();
    let Some(config) = &state.config.password.leaked else {
        return by_rules;
    };
    let has_leaked = match has_leaked(state, config, password).await {
        Ok(has_leaked) => has_leaked,
        Err(error) => {
            tracing::warn!(%error, "the list of leaked passwords could not be asked");
            config.fail_closed
        }
    };
    if !has_leaked {
        return by_rules;
    }
    let mut weak = by_rules.unwrap_or(WeakPassword {
        message: String::new(),
        reasons: Vec::new(),
    });
    if !weak.message.is_empty() {
        weak.message.push(' ');
    }
    weak.message.push_str(MESSAGE);
    weak.reasons.push(WeakReason::Pwned);
    Some(weak)
}

async fn has_leaked(
    state: &AuthState,
    config: &LeakedPasswordConfig,
    password: &str,
) -> Result<bool, CallError> {
    let hash = Sha1::digest(password)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02X}");
            text
        });
    let (prefix, suffix) = hash.split_at(5);
    let call = Call::get(format!(
        "{}/range/{prefix}",
        config.base_url.trim_end_matches('/')
    ))
    .header(HeaderName::from_static("add-padding"), "true")
    .timeout(LIMIT)
    .largest(LARGEST_ANSWER_BYTES);
    let answer = state.http.send(call).await?;
    if answer.status != 200 {
        let (host, status) = (answer.host, answer.status);
        return Err(CallError::Status { host, status });
    }
    Ok(lists(&String::from_utf8_lossy(&answer.body), suffix))
}

/// Whether an answer (`SUFFIX:COUNT` per line, padded with lines of count 0) has this suffix.
fn lists(answer: &str, suffix: &str) -> bool {
    let mut lines = answer.lines().filter_map(|line| line.trim().split_once(':'));
    lines.any(|(listed, count)| listed.eq_ignore_ascii_case(suffix) && count != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_no_leak() {
        let answer = "0018A45C4D1DEF81644B54AB7F969B88D65:1\r\n00D4F6E8FA6EECAD2A3AA415EEC418D38EC:0\r\n";

        assert!(lists(answer, "0018A45C4D1DEF81644B54AB7F969B88D65"));
        assert!(!lists(answer, "00D4F6E8FA6EECAD2A3AA415EEC418D38EC"));
        assert!(!lists("", "0018A45C4D1DEF81644B54AB7F969B88D65"));
    }
}
