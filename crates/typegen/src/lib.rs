//! TypeScript types of a database for supabase-js, as `supabase gen types --lang typescript` prints them.
//!
//! In comes a connection and the names of schemas, out goes the text of `database.types.ts`. The text is byte for byte that
//! of postgres-meta 0.98, which the Supabase CLI runs in a container, with its options of that time: the recordings in
//! `e2e/golden/types` are the specification. Names are sorted by the rules of JavaScript's `localeCompare`, and the layout
//! is Prettier's.
//!
//! Where the text goes, and which database is meant, is left to the command line.

mod catalog;
mod format;
mod typescript;

use tokio_postgres::Client;

/// What is generated.
#[derive(Debug, Clone)]
pub struct TypeOptions {
    /// The schemas whose tables, views, functions, enums and composite types are listed. Names that do not exist are
    /// passed over.
    pub schemas: Vec<String>,
    /// Whether relationships say if they are one-to-one. PostgREST before version 10 does not know such relationships.
    pub detects_one_to_one: bool,
}

/// Reads the catalog of the connected database and returns its types as TypeScript.
///
/// # Errors
/// When a query on the catalog fails.
pub async fn generate_typescript(
    client: &Client,
    options: &TypeOptions,
) -> Result<String, tokio_postgres::Error> {
    let catalog = catalog::load_catalog(client, &options.schemas).await?;
    Ok(typescript::write_types(&catalog, options.detects_one_to_one))
}
