//! XML documents as trees, and their canonical forms.

mod canonical;
mod document;
mod parse;

pub use canonical::CanonicalError;
pub(crate) use canonical::{Algorithm, Canonicalizer};
pub(crate) use document::{Document, ElementId};
pub use parse::ParseError;
pub(crate) use parse::parse_document;
