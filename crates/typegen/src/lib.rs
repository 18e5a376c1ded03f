//! Generates the types of a database for client libraries, as `supabase gen types` does.
//!
//! In: a connection and the names of schemas. Out: the text of `database.types.ts`, or of a Go, Python or Swift file, byte for
//! byte as postgres-meta 0.98 (TypeScript) and 0.99 (other languages) write it. Source: the recordings in `e2e/golden/types`.
//! Names are sorted by the rules of JavaScript's `localeCompare`, and the layout of TypeScript is Prettier's.
//!
//! Which database is read, and where the text is written, is left to the callers: `selvedge gen types` and
//! `GET /pg/generators/{language}`.

mod catalog;
mod languages;

use tokio_postgres::Client;

use languages::{go, python, swift, typescript};

pub use languages::SwiftAccess;

/// Which schemas are generated, and in which variant.
#[derive(Debug, Clone)]
pub struct TypeOptions {
    /// The schemas whose tables, views, functions, enums and composite types are generated. Names that do not exist are
    /// ignored.
    pub schemas: Vec<String>,
    /// Whether relationships in TypeScript have the member `isOneToOne`. False for PostgREST before version 10, which treats
    /// every foreign key as many-to-one. Ignored for other languages.
    pub detects_one_to_one: bool,
}

/// The language of the generated text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// `database.types.ts` for supabase-js.
    TypeScript,
    /// Structs with JSON tags, package `database`.
    Go,
    /// Pydantic models and `TypedDict` classes for supabase-py.
    Python,
    /// Codable structs for supabase-swift, with this access level.
    Swift(SwiftAccess),
}

/// Reads the system catalog of the connected database and returns the text of a source file, without a line break at its end.
///
/// The connection's `search_path` matters: types in it are named without their schema.
///
/// # Errors
/// PostgreSQL's error when a query on the system catalog fails.
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
