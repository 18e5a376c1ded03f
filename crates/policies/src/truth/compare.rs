//! Compares the explanation with PostgreSQL's answer.

use serde_json::{Map, Value};

use super::run::Truth;
use crate::decision::INSUFFICIENT_PRIVILEGE;
use crate::request::Verb;

/// The result that the explanation predicts for the real statement.
#[derive(Debug, Clone)]
pub(crate) enum Prediction {
    /// The statement succeeds on this many rows, with these contents where they are known exactly.
    Rows {
        count: usize,
        contents: Option<Vec<Map<String, Value>>>,
    },
    /// The statement fails with one of these SQLSTATEs.
    Error(Vec<String>),
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
        return match prediction {
            Prediction::Rows { count, contents } => {
                Comparison::certain(truth.count == *count as u64 && has_contents(truth, contents.as_deref()))
            }
            Prediction::Error(_) => Comparison::certain(false),
        };
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
        Prediction::Error(codes) if codes.contains(&error.code) => Comparison::certain(true),
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
        Prediction::Rows { .. } if !is_about_access && verb != Verb::Select => Comparison {
            agrees: Some(true),
            banner: Some(format!(
                "The policies let the statement pass, but it fails for another reason: {}.",
                error.message
            )),
        },
        _ => Comparison::certain(false),
    }
}

/// Whether the answer has exactly the expected rows, in any order.
fn has_contents(truth: &Truth, expected: Option<&[Map<String, Value>]>) -> bool {
    let (Some(expected), Some(rows)) = (expected, &truth.rows) else {
        return true;
    };
    let sorted = |rows: &[Map<String, Value>]| {
        let mut texts: Vec<String> = rows
            .iter()
            .map(|row| serde_json::to_string(row).expect("a map of texts is JSON"))
            .collect();
        texts.sort_unstable();
        texts
    };
    sorted(expected) == sorted(rows)
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
            contents: None,
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
}
