//! "Perhaps you meant …": the name most similar to a wrong one.
//!
//! Similarity is 1 − (Levenshtein distance ÷ longer length), among names that share three (else two) characters in a
//! row with the wrong one.

use std::collections::HashSet;

/// Least similarity for names of relations and functions, so that existing names do not leak to guesses.
pub(super) const NAMES: f64 = 0.75;
/// Least similarity for parameters and relationships.
pub(super) const PARTS: f64 = 0.33;

/// Candidates in order of similarity, best first.
pub(super) fn similar<'a>(
    wrong: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    least: f64,
) -> Vec<(f64, &'a str)> {
    let normal = normalise(wrong);
    let lower = wrong.to_lowercase();
    let length = wrong.chars().count();
    let mut candidates: Vec<(String, &str)> = candidates
        .into_iter()
        .filter(|name| could_be_similar(length, name.chars().count(), least))
        .map(|name| (normalise(name), name))
        .collect();
    candidates.sort();
    candidates.dedup();
    if let Some((_, name)) = candidates.iter().find(|(candidate, _)| *candidate == normal) {
        return vec![(1.0, name)];
    }
    for size in [3, 2] {
        let own = grams(&normal, size);
        let mut found: Vec<(f64, f64, &str)> = candidates
            .iter()
            .filter_map(|(candidate, name)| {
                let shared = own.intersection(&grams(candidate, size)).count();
                let score = strsim::normalized_levenshtein(&lower, &name.to_lowercase());
                (shared > 0 && score >= least).then_some((score, shared as f64, *name))
            })
            .collect();
        if !found.is_empty() {
            found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
            return found.into_iter().map(|(score, _, name)| (score, name)).collect();
        }
    }
    Vec::new()
}

/// Names that differ too much in length need not be compared letter by letter: the wrong one may be very long.
fn could_be_similar(one: usize, other: usize, least: f64) -> bool {
    one.min(other) as f64 >= least * one.max(other) as f64
}

/// The most similar candidate.
pub(super) fn most_similar<'a>(
    wrong: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    least: f64,
) -> Option<&'a str> {
    similar(wrong, candidates, least).first().map(|(_, name)| *name)
}

/// Lower case, and only letters, digits, `_`, blanks and commas.
fn normalise(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | ','))
        .flat_map(char::to_lowercase)
        .collect()
}

fn grams(text: &str, size: usize) -> HashSet<Vec<char>> {
    let mut padded = vec!['-'];
    padded.extend(text.chars());
    padded.push('-');
    padded.windows(size).map(<[char]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_022_similar_names_are_offered_and_distant_ones_are_not() {
        assert_eq!(
            most_similar("product", ["products", "brands"], NAMES),
            Some("products")
        );
        assert_eq!(most_similar("Products", ["products"], NAMES), Some("products"));
        assert_eq!(most_similar("secret", ["vault_items"], NAMES), None);
        assert_eq!(most_similar(&"product".repeat(100_000), ["product"], PARTS), None);
    }

    #[test]
    fn rest_029_parts_need_less_similarity() {
        assert_eq!(
            most_similar("nothing", ["brands", "pairings"], PARTS),
            Some("pairings")
        );
        assert_eq!(most_similar("(a)", ["(a, b)"], PARTS), Some("(a, b)"));
    }
}
