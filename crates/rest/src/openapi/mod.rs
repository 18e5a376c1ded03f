//! The root document: a Swagger 2.0 description of a schema, limited to what the caller may use.
//!
//! Type generators read it, down to the `<pk/>` and `<fk …/>` notes in descriptions, so it follows PostgREST's to the
//! letter.

mod address;
mod cache;
mod document;
mod operations;
mod parameters;
mod types;

use std::collections::HashSet;
use std::sync::Arc;

use actix_web::http::header;
use actix_web::{HttpResponse, body};
use bytes::Bytes;
use selvedge_postgres::{Param, Row, SqlStatement};

use crate::catalog::Catalog;
use crate::config::{EffectiveConfig, OpenApiMode, RestConfig};
use crate::plan::RootPlan;
use crate::respond::Timing;
pub(crate) use cache::RootCache;
use document::Document;

/// The query of what the caller may use in a schema: names of relations, oids of functions, the schema's comment.
pub(crate) fn write_privilege_query(schema: &str) -> SqlStatement {
    SqlStatement {
        text: include_str!("privileges.sql").to_owned(),
        params: vec![Param::Text(Bytes::copy_from_slice(schema.as_bytes()))],
        force_custom_plan: false,
    }
}

/// The response to `GET /`: `rows` are the privilege query's, `host` is the client's `Host` header.
pub(crate) fn render_root(
    root: &RootPlan,
    (cache, catalog, config): (&RootCache, &Arc<Catalog>, &Arc<EffectiveConfig>),
    rows: &[Row],
    host: &str,
    mut timing: Timing,
) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, "application/openapi+json; charset=utf-8"))
        .insert_header((header::VARY, "Accept, Prefer, Range"));
    if root.names_schema {
        response.insert_header(("content-profile", root.session.schema.as_str()));
    }
    // HEAD has no body, so the document need not be rendered.
    let text = (!root.headers_only).then(|| {
        let (schema, privileges) = (root.session.schema.as_str(), rows.first());
        cache.document((catalog, config), (schema, privileges), host, |host| {
            let document = describe_schema(root, catalog, config, privileges, host);
            document.render().to_string()
        })
    });
    timing.end_stage("response");
    if let Some(text) = timing.into_header() {
        response.insert_header(("server-timing", text));
    }
    match text {
        Some(text) => response.body(text),
        None => response.body(body::None::new()).map_into_boxed_body(),
    }
}

/// Selects what the document describes: everything, or with `openapi-mode = follow-privileges` what the caller may use.
fn describe_schema<'a>(
    root: &RootPlan,
    catalog: &'a Catalog,
    config: &'a RestConfig,
    privileges: Option<&Row>,
    host: &'a str,
) -> Document<'a> {
    let follow = config.openapi_mode == OpenApiMode::FollowPrivileges;
    let relations: HashSet<String> = privileges
        .map(|row| row.get::<_, Vec<String>>("relations"))
        .unwrap_or_default()
        .into_iter()
        .collect();
    let functions: HashSet<u32> = privileges
        .map(|row| row.get::<_, Vec<u32>>("functions"))
        .unwrap_or_default()
        .into_iter()
        .collect();
    let schema = root.session.schema.as_str();
    Document {
        config,
        host,
        comment: privileges.and_then(|row| row.get("comment")),
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
    }
}
