//! The grammar of `X-Robots-Tag`, which an upload may store with an object.

use crate::error::StorageError;

/// Rules without an argument.
const PLAIN_RULES: [&str; 8] = [
    "all",
    "noindex",
    "nofollow",
    "none",
    "nosnippet",
    "indexifembedded",
    "notranslate",
    "noimageindex",
];
/// Values of `max-image-preview`.
const PREVIEW_SIZES: [&str; 3] = ["none", "standard", "large"];

/// Checks a comma-separated list of rules, each with an optional `agent:` prefix.
///
/// # Errors
/// `InvalidRobotsTag`, which names the invalid rule.
pub(crate) fn check_robots_tag(value: &str) -> Result<(), StorageError> {
    if value.chars().any(char::is_control) {
        return Err(StorageError::InvalidRobotsTag(
            "control characters are not allowed".to_owned(),
        ));
    }
    value
        .split(',')
        .map(str::trim)
        .try_for_each(check_rule)
        .map_err(StorageError::InvalidRobotsTag)
}

/// Checks one rule; the error is its message.
fn check_rule(rule: &str) -> Result<(), String> {
    if PLAIN_RULES.contains(&rule.to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    let Some((name, argument)) = rule.split_once(':') else {
        // A date after `unavailable_after:` may contain a comma ("Wed, 03 Dec 2025"), whose second half arrives here as
        // if it were a rule.
        return if looks_like_date_tail(rule) {
            Ok(())
        } else {
            Err(format!("Invalid X-Robots-Tag rule: \"{rule}\""))
        };
    };
    let (name, argument) = (name.trim().to_ascii_lowercase(), argument.trim());
    match name.as_str() {
        "max-snippet" | "max-video-preview" => match argument.parse::<i64>() {
            Ok(number) if number >= -1 => Ok(()),
            _ => Err(format!(
                "X-Robots-Tag \"{name}\" value must be an integer >= -1, got: \"{argument}\""
            )),
        },
        "max-image-preview" if PREVIEW_SIZES.contains(&argument) => Ok(()),
        "max-image-preview" => Err(format!(
            "X-Robots-Tag \"{name}\" value must be one of: none, standard, large, got: \"{argument}\""
        )),
        "unavailable_after" if argument.chars().any(|c| c.is_ascii_alphanumeric()) => Ok(()),
        "unavailable_after" => Err(format!("X-Robots-Tag \"{name}\" needs a date")),
        agent
            if !agent.is_empty()
                && agent
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_*".contains(c)) =>
        {
            check_rule(argument)
        }
        _ => Err(format!("Invalid X-Robots-Tag rule: \"{rule}\"")),
    }
}

/// Whether a rule begins with the day of a month.
fn looks_like_date_tail(rule: &str) -> bool {
    rule.split_whitespace()
        .next()
        .is_some_and(|day| day.len() <= 2 && day.parse::<u8>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_032_valid_robots_rules_are_accepted() {
        for good in [
            "noindex",
            "noindex, nofollow",
            "googlebot: noindex",
            "max-snippet:-1",
            "max-image-preview:large",
            "unavailable_after: 2030-01-01",
            "max-video-preview:10, notranslate",
            "all",
        ] {
            assert!(check_robots_tag(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn store_032_errors_name_the_invalid_robots_rule() {
        let cases = [
            (
                "noindex,nonsense",
                "Invalid X-Robots-Tag header: Invalid X-Robots-Tag rule: \"nonsense\"",
            ),
            (
                "max-snippet:abc",
                "Invalid X-Robots-Tag header: X-Robots-Tag \"max-snippet\" value must be an integer >= -1, got: \"abc\"",
            ),
        ];
        for (bad, text) in cases {
            assert_eq!(check_robots_tag(bad).expect_err(bad).to_string(), text);
        }
    }
}
