//! `GET /pg/generators/typescript`: the TypeScript types of the database.

use actix_web::{HttpRequest, HttpResponse, web};
use selvedge_typegen::{TypeOptions, generate_typescript};

use super::filter::{parse_pairs, split_names};
use crate::error::MetaError;
use crate::state::Meta;

/// The schemas whose types are generated when a request names none.
const PROJECT_SCHEMAS: &str = "select nspname::text from pg_catalog.pg_namespace
    where nspname !~ '^pg_' and nspname <> 'information_schema' and nspname <> all ($1) order by nspname";

/// Answers with the text of `database.types.ts`.
pub(crate) async fn generate_types(
    request: HttpRequest,
    meta: web::Data<Meta>,
) -> Result<HttpResponse, MetaError> {
    let mut schemas = Vec::new();
    let mut excluded = Vec::new();
    let mut detects_one_to_one = false;
    for (name, value) in parse_pairs(request.query_string())? {
        match name.as_str() {
            "included_schemas" if !value.is_empty() => schemas = split_names(&value),
            "excluded_schemas" => excluded = split_names(&value),
            "detect_one_to_one_relationships" => detects_one_to_one = value == "true",
            _ => {}
        }
    }
    let client = meta.catalog.get().await?;
    if schemas.is_empty() {
        let rows = client.query(PROJECT_SCHEMAS, &[&excluded]).await?;
        schemas = rows.iter().map(|row| row.get(0)).collect();
    }
    let options = TypeOptions {
        schemas,
        detects_one_to_one,
    };
    let types = generate_typescript(&client, &options).await?;
    Ok(HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .body(types))
}
