//! One writer per language: the catalog in, the text of a source file out.
//!
//! Each writes what postgres-meta writes, its oddities included (`// Compat:`). Reading the catalog, and which language is
//! wanted, is left to the callers.

pub(crate) mod go;
mod names;
pub(crate) mod python;
pub(crate) mod swift;
pub(crate) mod typescript;

pub use swift::SwiftAccess;
