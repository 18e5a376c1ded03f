//! The errors that keep a simulation from being made.

/// An error that keeps a simulation from being made. A statement that the subject may not run is a result, not an
/// error.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    #[error("there is no such table")]
    NoTable,
    #[error("there is no role {0:?}")]
    NoRole(String),
    /// The request makes no sense for this table, for example an unknown column.
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
}

impl SimulationError {
    pub(crate) fn unknown_column(name: &str) -> Self {
        Self::Invalid(format!("The table has no column {name:?}."))
    }
}
