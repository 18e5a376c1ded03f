//! Reason phrases that user code chooses, kept for the life of the process.
//!
//! HTTP responses hold a phrase that lives as long as the process. So phrases are kept in a table; it is bounded, because
//! code in the database may make them of anything. What finds no place there gets the status's own phrase.

use std::collections::HashSet;
use std::sync::Mutex;

const MOST_PHRASES: usize = 256;
const LONGEST_PHRASE_BYTES: usize = 128;

static PHRASES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// The phrase without what may not stand in a status line, if it has a place.
pub(super) fn interned(phrase: &str) -> Option<&'static str> {
    let phrase: String = phrase.chars().filter(|c| !c.is_control()).collect();
    if phrase.is_empty() || phrase.len() > LONGEST_PHRASE_BYTES {
        return None;
    }
    let mut guard = PHRASES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let phrases = guard.get_or_insert_with(HashSet::new);
    if let Some(known) = phrases.get(phrase.as_str()) {
        return Some(known);
    }
    if phrases.len() >= MOST_PHRASES {
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
    fn rest_075_phrases_are_kept_once_cleaned_and_bounded() {
        let first = interned("Payment\r\nRequired").expect("a place");
        assert_eq!(first, "PaymentRequired");
        assert!(std::ptr::eq(
            first,
            interned("PaymentRequired").expect("the same")
        ));
        assert_eq!(interned(&"x".repeat(200)), None);
        assert_eq!(interned("\n"), None);

        let kept = (0..2 * MOST_PHRASES)
            .filter(|number| interned(&format!("phrase {number}")).is_some())
            .count();

        assert!(kept <= MOST_PHRASES);
        assert_eq!(interned("PaymentRequired"), Some("PaymentRequired"));
    }
}
