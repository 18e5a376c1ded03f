//! `GET /pg/generators/{language}`: the types of the database for clients, in TypeScript, Go, Python or Swift.

use actix_web::{HttpRequest, HttpResponse, web};
use selvedge_typegen::{Language, SwiftAccess, TypeOptions, generate_types};

use super::filter::{parse_pairs, split_names};
use crate::error::MetaError;
use crate::state::Meta;

/// Lists all schemas but PostgreSQL's own, this server's and those in `$1`: the ones whose types are generated without `included_schemas`.
const PROJECT_SCHEMAS: &str = "select nspname::text from pg_catalog.pg_namespace
    where nspname !~ '^pg_' and nspname not in ('information_schema', '_selvedge', 'selvedge_console') and nspname <> all ($1)
    order by nspname";

/// `GET /pg/generators/{language}?included_schemas=&excluded_schemas=&detect_one_to_one_relationships=&access_control=` → the text
/// of a source file. 404 for an unknown language, 400 for an unknown `access_control`.
pub(crate) async fn get_types(
    request: HttpRequest,
    language: web::Path<String>,
    meta: web::Data<Meta>,
) -> Result<HttpResponse, MetaError> {
    let mut schemas = Vec::new();
    let mut excluded = Vec::new();
    let mut detects_one_to_one = false;
    let mut access = "internal".to_owned();
    for (name, value) in parse_pairs(request.query_string())? {
        match name.as_str() {
            "included_schemas" if !value.is_empty() => schemas = split_names(&value),
            "excluded_schemas" => excluded = split_names(&value),
            "detect_one_to_one_relationships" => detects_one_to_one = value == "true",
            "access_control" => access = value,
            _ => {}
        }
    }
    let language = parse_language(&language, &access)?;
    let client = meta.catalog.get().await?;
    if schemas.is_empty() {
        let rows = client.query(PROJECT_SCHEMAS, &[&excluded]).await?;
        schemas = rows.iter().map(|row| row.get(0)).collect();
    }
    let options = TypeOptions {
        schemas,
        detects_one_to_one,
    };
    let types = generate_types(&client, &options, language).await?;
    Ok(HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .body(types))
}

/// Parses the language in the path and the parameter `access_control`, which matters for Swift only.
fn parse_language(name: &str, access: &str) -> Result<Language, MetaError> {
    Ok(match name {
        "typescript" => Language::TypeScript,
        "go" => Language::Go,
        "python" => Language::Python,
        "swift" => Language::Swift(SwiftAccess::parse(access).ok_or_else(|| {
            MetaError::Request("access_control must be internal, public, private or package".to_owned())
        })?),
        _ => return Err(MetaError::NotFound("Not found".to_owned())),
    })
}
