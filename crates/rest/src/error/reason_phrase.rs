//! Reason phrases that functions of the database choose.
//!
//! The HTTP library takes only `&'static str` for a phrase, so phrases are leaked into a table and reused. The table is
//! bounded, because a function may make a new phrase for every request; when it is full, the standard phrase is sent.

use std::collections::HashSet;
use std::sync::Mutex;

/// Most phrases that are ever leaked.
const MAX_PHRASES: usize = 256;
/// Longest reason phrase sent in a status line, in bytes; longer ones are cut.
const MAX_PHRASE_BYTES: usize = 128;

static PHRASES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// The phrase without control characters, which would end the status line; `None` if it is empty, too long, or the table
/// is full.
pub(super) fn intern_phrase(phrase: &str) -> Option<&'static str> {
    // A line break in a function's message could otherwise begin a further header.
    let phrase: String = phrase.chars().filter(|c| !c.is_control()).collect();
    if phrase.is_empty() || phrase.len() > MAX_PHRASE_BYTES {
        return None;
    }
    let mut guard = PHRASES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let phrases = guard.get_or_insert_with(HashSet::new);
    if let Some(known) = phrases.get(phrase.as_str()) {
        return Some(known);
    }
    if phrases.len() >= MAX_PHRASES {
        return None;
    }
    let kept: &'static str = Box::leak(phrase.into_boxed_str());
    phrases.insert(kept);
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_075_reason_phrases_are_cleaned_and_their_number_is_bounded() {
        let first = intern_phrase("Payment\r\nRequired").expect("a place");
        assert_eq!(first, "PaymentRequired");
        assert!(std::ptr::eq(
            first,
            intern_phrase("PaymentRequired").expect("the same")
        ));
        assert_eq!(intern_phrase(&"x".repeat(200)), None);
        assert_eq!(intern_phrase("\n"), None);

        let kept = (0..2 * MAX_PHRASES)
            .filter(|number| intern_phrase(&format!("phrase {number}")).is_some())
            .count();

        assert!(kept <= MAX_PHRASES);
        assert_eq!(intern_phrase("PaymentRequired"), Some("PaymentRequired"));
    }
}
