//! Compares the explanation with PostgreSQL's answer.

use serde_json::{Map, Value};

use super::run::Truth;
use crate::decision::INSUFFICIENT_PRIVILEGE;
use crate::request::Verb;

/// The result that the explanation predicts for the real statement.
#[derive(Debug, Clone)]
pub(crate) enum Prediction {
    /// The statement succeeds on this many rows.
    Rows { count: usize, contents: Contents },
    /// The statement succeeds on rows that are not all explained, for the reason given.
    Unexplained(String),
    /// The statement fails with one of these SQLSTATEs.
    Error(Vec<String>),
    /// The same, unless the limit ends the statement before it reads the row that raises the error.
    PossibleError(Vec<String>),
}

/// What is known about the rows that a statement returns.
#[derive(Debug, Clone)]
pub(crate) enum Contents {
    Unknown,
    /// These rows, in any order.
    Exactly(Vec<Map<String, Value>>),
    /// Some of these rows: PostgreSQL is free which of them a limit leaves.
    Among(Vec<Map<String, Value>>),
}

/// The result of comparing the explanation with PostgreSQL's real response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// Whether both agree, or `None` when the statement failed for a reason in which policies have no part.
    pub(crate) agrees: Option<bool>,
    pub(crate) banner: Option<String>,
}

impl Comparison {
    fn certain(agrees: bool) -> Self {
        Self {
            agrees: Some(agrees),
            banner: None,
        }
    }

    fn uncertain(banner: String) -> Self {
        Self {
            agrees: None,
            banner: Some(banner),
        }
    }
}

/// Compares the explanation with what PostgreSQL answered.
pub(crate) fn compare_with_truth(
    prediction: &Prediction,
    truth: &Truth,
    verb: Verb,
    has_row_changing_triggers: bool,
) -> Comparison {
    let Some(error) = &truth.error else {
        return compare_success(prediction, truth);
    };
    if matches!(error.code.as_str(), "57014" | "55P03") {
        return Comparison::uncertain(format!(
            "The real statement was ended before its result was known: {}.",
            error.message
        ));
    }
    // 42P17 is raised for policies that refer to each other without end.
    let is_about_access = error.code == INSUFFICIENT_PRIVILEGE || error.code == "42P17";
    match prediction {
        Prediction::Error(codes) | Prediction::PossibleError(codes) if codes.contains(&error.code) => {
            Comparison::certain(true)
        }
        Prediction::Error(_) if !is_about_access && verb != Verb::Select && has_row_changing_triggers => {
            Comparison::uncertain(format!(
                "A trigger or constraint stopped the real statement first: {}.",
                error.message
            ))
        }
        Prediction::Error(_) if error.code.starts_with("23") && verb == Verb::Update => {
            Comparison::uncertain(format!(
                "A constraint stopped the real statement at another row first: {}.",
                error.message
            ))
        }
        Prediction::Rows { .. } | Prediction::Unexplained(_) if !is_about_access && verb != Verb::Select => {
            Comparison {
                agrees: Some(true),
                banner: Some(format!(
                    "The policies let the statement pass, but it fails for another reason: {}.",
                    error.message
                )),
            }
        }
        _ => Comparison::certain(false),
    }
}

/// Compares the explanation with a statement that has succeeded.
fn compare_success(prediction: &Prediction, truth: &Truth) -> Comparison {
    match prediction {
        Prediction::Rows { count, contents } => {
            Comparison::certain(truth.count == *count as u64 && has_contents(truth, contents))
        }
        Prediction::Unexplained(banner) => Comparison::uncertain(banner.clone()),
        Prediction::Error(_) => Comparison::certain(false),
        Prediction::PossibleError(_) => Comparison::uncertain(
            "A policy raises an error for one of the rows. The limit was reached before that row was read."
                .to_owned(),
        ),
    }
}

/// Whether the answer has the expected rows.
fn has_contents(truth: &Truth, expected: &Contents) -> bool {
    let Some(rows) = &truth.rows else {
        return true;
    };
    match expected {
        Contents::Unknown => true,
        Contents::Exactly(expected) => sorted_texts(expected) == sorted_texts(rows),
        Contents::Among(expected) => {
            let mut possible = sorted_texts(expected).into_iter();
            sorted_texts(rows)
                .into_iter()
                .all(|row| possible.any(|other| other == row))
        }
    }
}

fn sorted_texts(rows: &[Map<String, Value>]) -> Vec<String> {
    let mut texts: Vec<String> = rows
        .iter()
        .map(|row| serde_json::to_string(row).expect("a map of texts is JSON"))
        .collect();
    texts.sort_unstable();
    texts
}

#[cfg(test)]
mod tests {
    use super::super::run::TruthError;
    use super::*;

    fn failed(code: &str) -> Truth {
        Truth {
            error: Some(TruthError {
                code: code.into(),
                message: "text".into(),
            }),
            ..Truth::default()
        }
    }

    #[test]
    fn console_082_a_constraint_behind_the_policies_is_no_disagreement() {
        let rows = Prediction::Rows {
            count: 1,
            contents: Contents::Unknown,
        };
        let denied = Prediction::Error(vec!["42501".into()]);
        let compare =
            |prediction, truth: &Truth, verb| compare_with_truth(prediction, truth, verb, false).agrees;

        assert_eq!(compare(&rows, &failed("23505"), Verb::Insert), Some(true));
        assert_eq!(compare(&rows, &failed("42501"), Verb::Insert), Some(false));
        assert_eq!(compare(&rows, &failed("22012"), Verb::Select), Some(false));
        assert_eq!(compare(&denied, &failed("42501"), Verb::Insert), Some(true));
        assert_eq!(compare(&denied, &failed("23505"), Verb::Insert), Some(false));
        assert_eq!(compare(&denied, &failed("23505"), Verb::Update), None);
        assert_eq!(compare(&denied, &failed("57014"), Verb::Insert), None);
        assert_eq!(compare(&denied, &Truth::default(), Verb::Insert), Some(false));
        assert_eq!(
            compare(
                &rows,
                &Truth {
                    count: 1,
                    ..Truth::default()
                },
                Verb::Insert
            ),
            Some(true)
        );
    }

    #[test]
    fn console_080_a_limit_may_leave_any_of_the_allowed_rows_and_no_other() {
        let rows = |ids: &[&str]| -> Vec<Map<String, Value>> {
            let row = |id: &&str| Map::from_iter([("id".to_owned(), Value::from(*id))]);
            ids.iter().map(row).collect()
        };
        let prediction = Prediction::Rows {
            count: 2,
            contents: Contents::Among(rows(&["1", "2", "2", "3"])),
        };
        let agrees = |ids: &[&str]| {
            let truth = Truth {
                count: ids.len() as u64,
                rows: Some(rows(ids)),
                error: None,
            };
            compare_with_truth(&prediction, &truth, Verb::Select, false).agrees
        };

        assert_eq!(agrees(&["3", "1"]), Some(true));
        assert_eq!(agrees(&["2", "2"]), Some(true));
        assert_eq!(agrees(&["1", "1"]), Some(false));
        assert_eq!(agrees(&["1", "4"]), Some(false));
        assert_eq!(agrees(&["1"]), Some(false));
    }
}
