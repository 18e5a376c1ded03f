//! Types of a database for supabase-js and clients in other languages, as `supabase gen types` prints them.
//!
//! In comes a connection and the names of schemas, out goes the text of `database.types.ts`, or of a file in Go, Python or
//! Swift. The text is byte for byte that of postgres-meta 0.98 (TypeScript) and 0.99, which the Supabase CLI runs in a
//! container: the recordings in `e2e/golden/types` are the specification. Names are sorted by the rules of JavaScript's
//! `localeCompare`, and the layout of TypeScript is Prettier's.
//!
//! Where the text goes, and which database is meant, is left to the command line.

mod catalog;
mod languages;

use tokio_postgres::Client;

use languages::{go, python, swift, typescript};

pub use languages::SwiftAccess;

/// What is generated.
#[derive(Debug, Clone)]
pub struct TypeOptions {
    /// The schemas whose tables, views, functions, enums and composite types are listed. Names that do not exist are
    /// passed over.
    pub schemas: Vec<String>,
    /// Whether relationships in TypeScript say if they are one-to-one. PostgREST before version 10 does not know such
    /// relationships.
    pub detects_one_to_one: bool,
}

/// A language in which types are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    TypeScript,
    Go,
    Python,
    Swift(SwiftAccess),
}

/// Reads the catalog of the connected database and returns its types.
///
/// # Errors
/// When a query on the catalog fails.
pub async fn generate_types(
    client: &Client,
    options: &TypeOptions,
    language: Language,
) -> Result<String, tokio_postgres::Error> {
    let catalog = catalog::load_catalog(client, &options.schemas).await?;
    Ok(match language {
        Language::TypeScript => typescript::write_types(&catalog, options.detects_one_to_one),
        Language::Go => go::write_structs(&catalog),
        Language::Python => python::write_classes(&catalog),
        Language::Swift(access) => swift::write_declarations(&catalog, access),
    })
}
