//! The limits of a simulation, and how the API is set up.

/// The limits of a simulation, and how the API is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// The schemas that the API exposes; the first one is meant when a request names none.
    pub exposed_schemas: Vec<String>,
    /// The search path of the API's requests, as quoted names.
    pub search_path: String,
    /// Whether the real statement is run, and whether texts of the asking person are (unsaved policies, SQL).
    pub run_for_real: bool,
    /// Whether a real write may fire the table's triggers, which can call outwards.
    pub fire_triggers: bool,
}
