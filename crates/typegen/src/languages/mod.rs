//! One writer per language. In: the catalog. Out: the text of a source file.
//!
//! Each writer produces what postgres-meta produces, odd results included (`// Compat:`).

pub(crate) mod go;
mod names;
pub(crate) mod python;
pub(crate) mod swift;
pub(crate) mod typescript;

pub use swift::SwiftAccess;
