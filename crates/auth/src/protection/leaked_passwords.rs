//! Checks new passwords against the project's rules and a public list of leaked passwords. Source: Auth contract §5.
//!
//! The request to the list holds only the first five characters of the password's SHA-1, and the response lists some
//! hundred hashes with that prefix, so the service learns neither password nor user.

use std::fmt::Write;
use std::time::Duration;

use hyper::header::HeaderName;
use sha1::{Digest, Sha1};

use crate::config::LeakedPasswordConfig;
use crate::error::{AuthError, WeakPassword, WeakReason};
use crate::http_client::{Call, CallError};
use crate::state::AuthState;
use crate::validation::password;

/// Time limit of the request to the list.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Limit of the list's response in bytes.
const MAX_RESPONSE_BYTES: usize = 512 * 1024;
const MESSAGE: &str = "Password is known to be weak and easy to guess, please choose a different one.";

/// Refuses a new password that cannot be hashed, breaks a rule or has leaked.
///
/// # Errors
/// 400 `validation_failed` above 72 bytes, 422 `weak_password` otherwise.
pub(crate) async fn check_new_password(state: &AuthState, password: &str) -> Result<(), AuthError> {
    password::check_length(password)?;
    match find_weakness(state, password).await {
        Some(weak) => Err(AuthError::WeakPassword(weak)),
        None => Ok(()),
    }
}

/// All rules that a password breaks; `None` for a good one.
pub(crate) async fn find_weakness(state: &AuthState, password: &str) -> Option<WeakPassword> {
    let by_rules = password::check_strength(password, &state.config.password).err();
    let Some(config) = &state.config.password.leaked else {
        return by_rules;
    };
    let has_leaked = match has_leaked(state, config, password).await {
        Ok(has_leaked) => has_leaked,
        Err(error) => {
            tracing::warn!(%error, "the list of leaked passwords could not be reached");
            // The project chooses whether an unreachable list refuses all new passwords or none.
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
    // All broken rules are reported together, so that the user does not learn of them one by one.
    weak.message.push_str(MESSAGE);
    weak.reasons.push(WeakReason::Pwned);
    Some(weak)
}

/// Whether the list holds the password. `add-padding` makes all responses about the same size, so that their length
/// reveals nothing.
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
    .timeout(TIME_LIMIT)
    .max_response_bytes(MAX_RESPONSE_BYTES);
    let response = state.http.send(call).await?;
    if response.status != 200 {
        let (host, status) = (response.host, response.status);
        return Err(CallError::Status { host, status });
    }
    Ok(contains_suffix(&String::from_utf8_lossy(&response.body), suffix))
}

/// Whether a response (`SUFFIX:COUNT` per line) lists this suffix. Lines with count 0 are padding against traffic
/// analysis.
fn contains_suffix(response: &str, suffix: &str) -> bool {
    let mut lines = response.lines().filter_map(|line| line.trim().split_once(':'));
    lines.any(|(listed, count)| listed.eq_ignore_ascii_case(suffix) && count != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_count_zero_are_padding() {
        let response = "0018A45C4D1DEF81644B54AB7F969B88D65:1\r\n00D4F6E8FA6EECAD2A3AA415EEC418D38EC:0\r\n";

        assert!(contains_suffix(response, "0018A45C4D1DEF81644B54AB7F969B88D65"));
        assert!(!contains_suffix(response, "00D4F6E8FA6EECAD2A3AA415EEC418D38EC"));
        assert!(!contains_suffix("", "0018A45C4D1DEF81644B54AB7F969B88D65"));
    }
}
