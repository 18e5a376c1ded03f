//! The policies of a table and how they apply to one role.

use serde::{Deserialize, Serialize};
use tokio_postgres::GenericClient;

/// The command that a policy is for, or that a statement needs policies for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    All,
    Select,
    Insert,
    Update,
    Delete,
}

/// A policy that is saved in the database or proposed by the request.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Policy {
    pub(crate) name: String,
    pub(crate) command: Command,
    pub(crate) permissive: bool,
    pub(crate) roles: Vec<String>,
    /// Whether one of its roles is the subject's, one whose rights it inherits, or public.
    pub(crate) applies: bool,
    pub(crate) using: Option<String>,
    pub(crate) check: Option<String>,
    /// Whether the policy is only proposed, so that no real statement is subject to it.
    pub(crate) unsaved: bool,
    #[serde(skip)]
    pub(crate) facts: PolicyFacts,
}

/// The properties of a policy's expressions for which the explanation may differ from what PostgreSQL does.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PolicyFacts {
    pub(crate) is_volatile: bool,
    pub(crate) reads_views: bool,
    pub(crate) uses_system_columns: bool,
}

impl Command {
    fn from_catalog(letter: &str) -> Self {
        match letter {
            "r" => Self::Select,
            "a" => Self::Insert,
            "w" => Self::Update,
            "d" => Self::Delete,
            _ => Self::All,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Select => "select",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// Reads the policies of a table in their order of evaluation. The search path must be empty.
///
/// # Errors
/// PostgreSQL's errors.
pub(crate) async fn load_policies(
    owner: &impl GenericClient,
    table: u32,
    role: &str,
) -> Result<Vec<Policy>, tokio_postgres::Error> {
    let rows = owner
        .query(include_str!("policies.sql"), &[&table, &role])
        .await?;
    let policies = rows.iter().map(|row| Policy {
        name: row.get(0),
        command: Command::from_catalog(row.get(1)),
        permissive: row.get(2),
        roles: row.get(3),
        applies: row.get(4),
        using: row.get(5),
        check: row.get(6),
        unsaved: false,
        facts: PolicyFacts {
            is_volatile: row.get(7),
            reads_views: row.get(8),
            uses_system_columns: row.get(9),
        },
    });
    Ok(policies.collect())
}
