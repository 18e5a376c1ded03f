//! A claimed job, and what its column `input` says about the picture.

use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

/// One attempt at a job. Its number guards every later statement, so that a worker whose lease has expired cannot
/// overwrite what its successor does.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) id: Uuid,
    /// The number of this attempt, from 1.
    pub(crate) attempt: i32,
    pub(crate) target: Target,
    pub(crate) input: Input,
}

/// Where the picture is stored.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) bucket: String,
    /// Folder without a slash at the end.
    pub(crate) folder: String,
}

impl Target {
    /// The name of the job's picture. All attempts use the same one, so that none leaves a file behind.
    pub(crate) fn object_name(&self, id: Uuid, extension: &str) -> String {
        format!("{}/{id}.{extension}", self.folder)
    }
}

/// The column `input`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Input {
    /// The pictures to work from.
    pub(crate) sources: Vec<Source>,
    /// Passed to the endpoint as it is.
    #[serde(default)]
    pub(crate) details: Value,
}

/// A picture to work from: an object of the project's storage.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Source {
    pub(crate) role: Role,
    pub(crate) bucket: String,
    pub(crate) name: String,
    /// The subject of the picture, such as the name of an item.
    #[serde(default)]
    pub(crate) label: Option<String>,
}

/// What a source picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    Person,
    Item,
}

impl Role {
    /// The word of the request to an endpoint.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Item => "item",
        }
    }
}

impl Input {
    /// The sources of one role, in their order.
    pub(crate) fn sources_of(&self, role: Role) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(move |source| source.role == role)
    }
}
