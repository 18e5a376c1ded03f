//! What a simulation may do, and how the API is set up.

/// What a simulation may do, and how the API is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// The schemas that the API exposes; the first one is meant when a request names none.
    pub exposed_schemas: Vec<String>,
    /// The search path of requests, quoted.
    pub search_path: String,
    /// Whether the real statement is run, and whether texts of the asking person are (unsaved policies, SQL).
    pub run_for_real: bool,
    /// Whether a real write may fire the table's triggers, which can call outwards.
    pub fire_triggers: bool,
}
