//! The database objects that the planner needs (PostgREST: the schema cache's contents).
//!
//! `load.rs` reads them by a few queries, `new_tables.rs` what is new in a large one, `derive_relationships.rs` turns keys into relationships, and the `choose_` files
//! find the relationship or function that a request means. A catalog is immutable: a reload creates a new one.

mod choose_function;
mod choose_relationship;
mod derive_relationships;
#[cfg(any(test, fuzzing))]
mod example;
mod function;
mod hints;
mod load;
mod new_tables;
mod relation;
mod relationship;
mod snapshot;

pub use function::{Function, Parameter, ReturnType, Volatility};
pub(crate) use load::{CatalogScope, list_schemas_by_pattern};
pub use relation::{Column, Columns, Distribution, Relation};
pub use relationship::{Cardinality, Junction, Relationship};
pub use snapshot::{Catalog, HandlerTarget};
