//! Reads and writes the files of `e2e/golden/pg`: SQL that prepares the database, and requests with recorded responses.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A step of a recording: SQL to run, or a request to send.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Step {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sql: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) method: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<Value>,
    /// Later requests write `$name` for the id of the object in this step's response.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The recorded response of postgres-meta.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) original: Option<Answer>,
    /// Our response where it differs on purpose, and the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ours: Option<Answer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) because: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) answer: Value,
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.status, self.answer)
    }
}

impl Step {
    /// Returns the expected response: ours where a deliberate difference is recorded, else the original's.
    ///
    /// # Panics
    /// When a difference has no reason, or is none.
    pub(crate) fn expected(&self) -> Answer {
        let original = self.original.as_ref().expect("every request is recorded");
        let Some(ours) = &self.ours else {
            return original.clone();
        };
        assert!(self.because.is_some() && ours != original, "{}", self.path);
        ours.clone()
    }

    pub(crate) fn record(&mut self, answer: Answer) {
        self.original = Some(answer);
    }
}

/// Writes the steps as JSON, one per line.
pub(crate) fn print(steps: &[Step]) -> String {
    let lines = steps
        .iter()
        .map(|step| format!("  {}", serde_json::to_string(step).expect("steps are JSON")));
    format!("[\n{}\n]\n", lines.collect::<Vec<_>>().join(",\n"))
}

/// Ids of objects in earlier responses, by the names that the steps gave them.
#[derive(Default)]
pub(crate) struct Variables(BTreeMap<String, Value>);

impl Variables {
    /// Stores the id of the object in the response, or of the first object of an array.
    pub(crate) fn remember(&mut self, step: &Step, answer: &Value) {
        if let Some(name) = &step.name {
            let object = answer.get(0).unwrap_or(answer);
            self.0.insert(format!("${name}"), object["id"].clone());
        }
    }

    pub(crate) fn fill_path(&self, path: &str) -> String {
        self.0.iter().fold(path.to_owned(), |path, (name, id)| {
            path.replace(name, id.to_string().trim_matches('"'))
        })
    }

    pub(crate) fn fill(&self, body: &Value) -> Value {
        match body {
            Value::String(text) => match self.0.get(text) {
                Some(id) => id.clone(),
                None => Value::String(self.fill_path(text)),
            },
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(members) => {
                let members = members.iter();
                Value::Object(
                    members
                        .map(|(name, value)| (name.clone(), self.fill(value)))
                        .collect(),
                )
            }
            other => other.clone(),
        }
    }
}
