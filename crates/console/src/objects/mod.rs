//! `GET /api/objects/{kind}` and `/{kind}/{oid}`: lists of objects, and one object with its definition and dependants.

use actix_web::http::Method;
use actix_web::{HttpResponse, web};
use selvedge_introspection::{CatalogReader, IntrospectionError, ObjectKind};
use serde::Deserialize;
use serde_json::json;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::{ConsoleState, Level};

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    let viewer = Access::From(Level::Viewer);
    vec![
        ApiRoute::new(Method::GET, "/api/objects/{kind}", viewer, list_objects),
        ApiRoute::new(Method::GET, "/api/objects/{kind}/{oid}", viewer, describe_object),
    ]
}

#[derive(Deserialize)]
struct ListQuery {
    schema: Option<String>,
}

/// `GET /api/objects/{kind}?schema=`
async fn list_objects(
    state: web::Data<ConsoleState>,
    session: Session,
    kind: web::Path<String>,
    query: web::Query<ListQuery>,
) -> Result<HttpResponse, ConsoleError> {
    let kind = parse_kind(&kind)?;
    let mut client = state.database.connection(session.level).await?;
    let reader = CatalogReader::begin(&mut client).await?;
    let objects = reader.list_objects(kind, query.schema.as_deref()).await?;
    Ok(HttpResponse::Ok().json(json!({ "objects": objects })))
}

/// `GET /api/objects/{kind}/{oid}`
async fn describe_object(
    state: web::Data<ConsoleState>,
    session: Session,
    path: web::Path<(String, String)>,
) -> Result<HttpResponse, ConsoleError> {
    let (kind, oid) = path.into_inner();
    let kind = parse_kind(&kind)?;
    let mut client = state.database.connection(session.level).await?;
    let reader = CatalogReader::begin(&mut client).await?;
    let description = reader
        .describe_object(kind, &oid)
        .await
        .map_err(|error| match error {
            IntrospectionError::NotFound => ConsoleError::not_found("The object does not exist any more"),
            IntrospectionError::Database(error) => error.into(),
        })?;
    Ok(HttpResponse::Ok().json(description))
}

fn parse_kind(name: &str) -> Result<ObjectKind, ConsoleError> {
    ObjectKind::parse(name)
        .ok_or_else(|| ConsoleError::not_found(format!("There are no objects of the kind {name}")))
}
