//! The root document: a Swagger 2.0 description of a schema, limited to what the caller may use.
//!
//! Type generators of the ecosystem read it, down to the `<pk/>` and `<fk …/>` notes in descriptions.

mod address;
mod document;
mod types;

use crate::catalog::Catalog;
use crate::config::OpenApiMode;
use crate::error::RestError;
use crate::execute::Execution;
use crate::respond::Timing;
use actix_web::http::header;
use actix_web::{HttpResponse, body};
use bytes::Bytes;
use document::Document;
use selvedge_postgres::{Param, SqlStatement};
use std::collections::HashSet;

/// Answers `GET /`.
///
/// # Errors
/// PostgreSQL's refusal of the privilege query.
pub(crate) async fn answer(
    execution: &Execution<'_>,
    catalog: &Catalog,
    host: &str,
    headers_only: bool,
    mut timing: Timing,
) -> Result<HttpResponse, RestError> {
    let config = &execution.settings.config;
    let schema = execution.request.schema.as_str();
    let statement = SqlStatement {
        text: include_str!("privileges.sql").to_owned(),
        params: vec![Param::Text(Bytes::copy_from_slice(schema.as_bytes()))],
        force_custom_plan: false,
    };
    let rows = execution.read(&statement).await?;
    timing.mark("transaction");
    let row = rows.first();
    let follow = config.openapi_mode == OpenApiMode::FollowPrivileges;
    let relations: HashSet<String> = row
        .map(|row| row.get::<_, Vec<String>>("relations"))
        .unwrap_or_default()
        .into_iter()
        .collect();
    let functions: HashSet<u32> = row
        .map(|row| row.get::<_, Vec<u32>>("functions"))
        .unwrap_or_default()
        .into_iter()
        .collect();
    let document = Document {
        config,
        host,
        comment: row.and_then(|row| row.get("comment")),
        relations: catalog
            .relations_in(schema)
            .into_iter()
            .filter(|relation| !follow || relations.contains(&relation.name.name))
            .collect(),
        functions: catalog
            .functions_in(schema)
            .into_iter()
            .filter(|function| !follow || functions.contains(&function.oid))
            .collect(),
        catalog,
    };
    let text = if headers_only {
        String::new()
    } else {
        document.render().to_string()
    };
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, "application/openapi+json; charset=utf-8"))
        .insert_header((header::VARY, "Accept, Prefer, Range"));
    if execution.request.names_schema {
        response.insert_header(("content-profile", schema));
    }
    timing.mark("response");
    if let Some(text) = timing.into_header() {
        response.insert_header(("server-timing", text));
    }
    Ok(if headers_only {
        response.body(body::None::new()).map_into_boxed_body()
    } else {
        response.body(text)
    })
}
