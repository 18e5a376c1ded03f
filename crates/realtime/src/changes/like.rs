//! PostgreSQL's `LIKE` for texts, as far as it is certain to decide the same.

/// Most comparisons of a character with a part of the pattern. Beyond them PostgreSQL is asked, which can be interrupted.
const MOST_STEPS: usize = 1_000_000;

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    /// `%`
    AnyText,
    /// `_`
    AnyCharacter,
    Character(char),
}

/// A pattern of `LIKE`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LikePattern(Vec<Part>);

impl LikePattern {
    /// Reads a pattern. `None` for one that ends in its escape character, which PostgreSQL refuses.
    pub(crate) fn parse(pattern: &str) -> Option<Self> {
        let mut parts = Vec::with_capacity(pattern.len());
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            let part = match character {
                '%' => Part::AnyText,
                '_' => Part::AnyCharacter,
                '\\' => Part::Character(characters.next()?),
                other => Part::Character(other),
            };
            if part != Part::AnyText || parts.last() != Some(&Part::AnyText) {
                parts.push(part);
            }
        }
        Some(Self(parts))
    }

    /// Whether the whole text matches. `None` when that takes too many steps to find out here.
    pub(crate) fn matches(&self, text: &str) -> Option<bool> {
        let text: Vec<char> = match text.len() <= MOST_STEPS {
            true => text.chars().collect(),
            false => return None,
        };
        let (mut at, mut part, mut steps) = (0, 0, 0);
        // Where to go on when what follows the last `%` does not match: one character of the text further.
        let mut retry: Option<(usize, usize)> = None;
        while at < text.len() {
            steps += 1;
            if steps > MOST_STEPS {
                return None;
            }
            match (self.0.get(part), text.get(at)) {
                (Some(Part::AnyText), _) => {
                    part += 1;
                    retry = Some((at, part));
                    continue;
                }
                (Some(Part::AnyCharacter), _) => {}
                (Some(Part::Character(wanted)), Some(found)) if wanted == found => {}
                _ => {
                    let Some((from, after)) = retry else {
                        return Some(false);
                    };
                    retry = Some((from + 1, after));
                    (at, part) = (from + 1, after);
                    continue;
                }
            }
            at += 1;
            part += 1;
        }
        let rest = self.0.get(part..).unwrap_or_default();
        Some(rest.iter().all(|part| *part == Part::AnyText))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        let pattern = LikePattern::parse(pattern).expect("a pattern");
        pattern.matches(text).expect("few steps")
    }

    #[test]
    fn realtime_033_like_is_that_of_postgresql() {
        for (pattern, text, holds) in [
            ("", "", true),
            ("", "a", false),
            ("%", "", true),
            ("a%", "abc", true),
            ("a%", "ba", false),
            ("%c", "abc", true),
            ("a_c", "aäc", true),
            ("a_", "a", false),
            ("%b%d%", "abcde", true),
            ("%ab%ab", "abab", true),
            ("%aab", "aaab", true),
            (r"50\%", "50%", true),
            (r"50\%", "500", false),
            (r"\\%", r"\a", true),
            ("A", "a", false),
            ("a%%_b", "axxb", true),
        ] {
            assert_eq!(matches(pattern, text), holds, "{text} like {pattern}");
        }
        assert_eq!(LikePattern::parse(r"a\"), None);
    }

    #[test]
    fn a_pattern_that_takes_too_long_is_left_to_postgresql() {
        let pattern = LikePattern::parse(&format!("%{}b", "a".repeat(2000))).expect("a pattern");

        assert_eq!(pattern.matches(&"a".repeat(100_000)), None);
    }

    /// Matches by trying every possibility, as `LIKE` is defined, however long that takes.
    fn by_definition(pattern: &[Part], text: &[char]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some((Part::AnyText, rest)), _) => {
                (0..=text.len()).any(|from| by_definition(rest, &text[from..]))
            }
            (Some((Part::AnyCharacter, rest)), Some((_, behind))) => by_definition(rest, behind),
            (Some((Part::Character(wanted), rest)), Some((found, behind))) => {
                wanted == found && by_definition(rest, behind)
            }
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn like_is_decided_by_its_definition(pattern in "[ab%_]{0,8}", text in "[ab]{0,10}") {
            let parsed = LikePattern::parse(&pattern).expect("a pattern");
            let text_of: Vec<char> = text.chars().collect();
            prop_assert_eq!(parsed.matches(&text), Some(by_definition(&parsed.0, &text_of)));
        }
    }
}
