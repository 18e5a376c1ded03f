//! Counts the values of a JSON document before it is parsed, because each takes much more memory than its text.

/// Most values and names of a body that is parsed into JSON values. Each takes up to a hundred times its two bytes, and again so much in each
/// copy.
pub(super) const MOST_VALUES: usize = 10_000;

/// Whether a JSON document has more values and names than `most`. What is in strings does not count.
///
/// It ends as soon as that is known and skips strings, because the event loop waits for it: a megabyte is read in less than a millisecond.
pub(super) fn has_more_values(json: &[u8], most: usize) -> bool {
    if count_values(json) <= most {
        return false;
    }
    let (mut values, mut rest) = (0, json);
    while !rest.is_empty() {
        let end = memchr::memchr(b'"', rest).unwrap_or(rest.len());
        let (outside, string) = rest.split_at(end);
        for part in outside.chunks(MOST_VALUES) {
            values += count_values(part);
            if values > most {
                return true;
            }
        }
        rest = skip_string(string);
    }
    false
}

/// How many values and names begin in a piece of JSON without strings.
fn count_values(json: &[u8]) -> usize {
    let begins_value = |byte: &&u8| matches!(byte, b',' | b':' | b'[' | b'{');
    json.iter().filter(begins_value).count()
}

/// What follows the string with which a piece of JSON begins.
fn skip_string(json: &[u8]) -> &[u8] {
    let mut rest = json.get(1..).unwrap_or_default();
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        if rest[at] == b'"' {
            return &rest[at + 1..];
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    &[]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count_byte_by_byte(json: &[u8]) -> usize {
        let (mut values, mut is_in_string, mut is_escaped) = (0, false, false);
        for byte in json {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if is_in_string => is_escaped = true,
                b'"' => is_in_string = !is_in_string,
                b',' | b':' | b'[' | b'{' if !is_in_string => values += 1,
                _ => {}
            }
        }
        values
    }

    #[test]
    fn gw_049_values_in_strings_do_not_count() {
        let commas = ",".repeat(MOST_VALUES + 1);

        assert!(has_more_values(commas.as_bytes(), MOST_VALUES));
        assert!(!has_more_values(&commas.as_bytes()[1..], MOST_VALUES));
        let two_strings = format!("[\"{commas}\", \"\\\"{commas}\"]");
        assert!(!has_more_values(two_strings.as_bytes(), MOST_VALUES));
        let open_string = format!("[\"\\{commas}");
        assert!(!has_more_values(open_string.as_bytes(), MOST_VALUES));
        let behind_string = format!("[\"a\\\\\"{commas}]");
        assert!(has_more_values(behind_string.as_bytes(), MOST_VALUES));
    }

    proptest! {
        #[test]
        fn gw_049_values_are_counted_as_byte_by_byte(pieces in prop::collection::vec("[\\[{,:a\"\\\\]{0,9}", 0..9)) {
            let json = pieces.join(&",".repeat(MOST_VALUES / 4));

            let has_more = has_more_values(json.as_bytes(), MOST_VALUES);
            prop_assert_eq!(has_more, count_byte_by_byte(json.as_bytes()) > MOST_VALUES);
        }
    }
}
