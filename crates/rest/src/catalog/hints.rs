//! "Perhaps you meant …": the name most similar to a wrong one, chosen as PostgREST does.
//!
//! Similarity is 1 − (Levenshtein distance ÷ longer length). Only names that share three characters in a row with the
//! wrong one are compared; if there is none, those that share two.

use std::collections::HashSet;

/// Least similarity for names of relations and functions. It is high so that guesses do not reveal names that exist.
pub(super) const MIN_NAME_SIMILARITY: f64 = 0.75;
/// Least similarity for parameters and relationships.
pub(super) const MIN_PART_SIMILARITY: f64 = 0.33;

/// Candidates with at least the similarity `least`, best first.
pub(super) fn rank_similar<'a>(
    wrong: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    least: f64,
) -> Vec<(f64, &'a str)> {
    let normal = normalise_name(wrong);
    let lower = wrong.to_lowercase();
    let length = wrong.chars().count();
    let mut candidates: Vec<(String, &str)> = candidates
        .into_iter()
        .filter(|name| could_be_similar(length, name.chars().count(), least))
        .map(|name| (normalise_name(name), name))
        .collect();
    candidates.sort();
    candidates.dedup();
    // Names that differ only in case or punctuation count as equal.
    if let Some((_, name)) = candidates.iter().find(|(candidate, _)| *candidate == normal) {
        return vec![(1.0, name)];
    }
    // Two shared characters are a weak sign, so they count only where no candidate shares three.
    for size in [3, 2] {
        let own = split_into_grams(&normal, size);
        let mut found: Vec<(f64, f64, &str)> = candidates
            .iter()
            .filter_map(|(candidate, name)| {
                let shared = own.intersection(&split_into_grams(candidate, size)).count();
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

/// Whether two names of these lengths can reach a similarity at all. Without this check a wrong name of a megabyte would
/// be compared letter by letter.
fn could_be_similar(one: usize, other: usize, least: f64) -> bool {
    one.min(other) as f64 >= least * one.max(other) as f64
}

/// The candidate whose name is most similar.
pub(super) fn most_similar<'a>(
    wrong: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    least: f64,
) -> Option<&'a str> {
    rank_similar(wrong, candidates, least)
        .first()
        .map(|(_, name)| *name)
}

/// The text in lower case, of which only letters, digits, `_`, blanks and commas are left.
fn normalise_name(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | ','))
        .flat_map(char::to_lowercase)
        .collect()
}

/// All runs of `size` characters, with `-` in front and behind.
fn split_into_grams(text: &str, size: usize) -> HashSet<Vec<char>> {
    let mut padded = vec!['-'];
    padded.extend(text.chars());
    padded.push('-');
    padded.windows(size).map(<[char]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_022_only_similar_names_are_suggested() {
        assert_eq!(
            most_similar("product", ["products", "brands"], MIN_NAME_SIMILARITY),
            Some("products")
        );
        assert_eq!(
            most_similar("Products", ["products"], MIN_NAME_SIMILARITY),
            Some("products")
        );
        assert_eq!(most_similar("secret", ["vault_items"], MIN_NAME_SIMILARITY), None);
        assert_eq!(
            most_similar(&"product".repeat(100_000), ["product"], MIN_PART_SIMILARITY),
            None
        );
    }

    #[test]
    fn rest_029_parameters_and_relationships_need_less_similarity() {
        assert_eq!(
            most_similar("nothing", ["brands", "pairings"], MIN_PART_SIMILARITY),
            Some("pairings")
        );
        assert_eq!(
            most_similar("(a)", ["(a, b)"], MIN_PART_SIMILARITY),
            Some("(a, b)")
        );
    }
}
