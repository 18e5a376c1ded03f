//! POST, PATCH and DELETE of database objects. Each request runs in one transaction on a new connection.
//!
//! Errors: 400 `{"error": PostgreSQL's message}`, 403 for requests with `Origin`, 404 for an unknown id, 503 without a
//! connection.

mod body;
mod column;
mod extension;
mod function;
mod kind;
mod policy;
mod privileges;
mod publication;
mod role;
mod schema;
mod table;
mod transaction;
mod trigger;

use actix_web::{HttpRequest, HttpResponse, Resource, web};

use self::body::{parse_body, wants_cascade};
use self::column::Columns;
use self::extension::Extensions;
use self::function::Functions;
use self::kind::ObjectKind;
use self::policy::Policies;
use self::privileges::{grant_on_columns, grant_on_tables, revoke_on_columns, revoke_on_tables};
use self::publication::Publications;
use self::role::Roles;
use self::schema::Schemas;
use self::table::Tables;
use self::transaction::Change;
use self::trigger::Triggers;
use crate::error::MetaError;
use crate::lists::json_response;
use crate::state::Meta;

pub(crate) use self::body::reject_web_page;

/// Adds POST to the resource of a list, for the kinds for which postgres-meta has it; for privileges also DELETE.
pub(crate) fn add_collection_routes(path: &str, resource: Resource) -> Resource {
    match path {
        "/tables" => resource.route(web::post().to(create_object::<Tables>)),
        "/columns" => resource.route(web::post().to(create_object::<Columns>)),
        "/policies" => resource.route(web::post().to(create_object::<Policies>)),
        "/functions" => resource.route(web::post().to(create_object::<Functions>)),
        "/triggers" => resource.route(web::post().to(create_object::<Triggers>)),
        "/publications" => resource.route(web::post().to(create_object::<Publications>)),
        "/roles" => resource.route(web::post().to(create_object::<Roles>)),
        "/extensions" => resource.route(web::post().to(create_object::<Extensions>)),
        "/schemas" => resource.route(web::post().to(create_object::<Schemas>)),
        // Privileges have no ids, so a grant (POST) and a revoke (DELETE) send a list of them to the collection's path.
        "/table-privileges" => resource
            .route(web::post().to(grant_on_tables))
            .route(web::delete().to(revoke_on_tables)),
        "/column-privileges" => resource
            .route(web::post().to(grant_on_columns))
            .route(web::delete().to(revoke_on_columns)),
        _ => resource,
    }
}

/// Adds PATCH and DELETE to the resource of a single object, for the kinds for which postgres-meta has them.
pub(crate) fn add_object_routes(path: &str, resource: Resource) -> Resource {
    match path {
        "/tables" => add_routes::<Tables>(resource),
        "/columns" => add_routes::<Columns>(resource),
        "/policies" => add_routes::<Policies>(resource),
        "/functions" => add_routes::<Functions>(resource),
        "/triggers" => add_routes::<Triggers>(resource),
        "/publications" => add_routes::<Publications>(resource),
        "/roles" => add_routes::<Roles>(resource),
        "/extensions" => add_routes::<Extensions>(resource),
        "/schemas" => add_routes::<Schemas>(resource),
        _ => resource,
    }
}

fn add_routes<K: ObjectKind>(resource: Resource) -> Resource {
    resource
        .route(web::patch().to(alter_object::<K>))
        .route(web::delete().to(drop_object::<K>))
}

/// `POST /pg/{objects}` → 200 with the created object.
async fn create_object<K: ObjectKind>(
    request: HttpRequest,
    body: web::Bytes,
    meta: web::Data<Meta>,
) -> Result<HttpResponse, MetaError> {
    reject_web_page(&request)?;
    let new: K::New = parse_body(&body)?;
    let mut client = meta.connect().await?;
    let change = Change::begin(&mut client, &meta).await?;
    let id = K::create(&change, new).await?;
    // Read inside the transaction, so that no other client can have changed or dropped the object.
    let object = change.read_object(K::PATH, &id).await?;
    change.commit().await?;
    Ok(json_response(object))
}

/// `PATCH /pg/{objects}/{id}` → 200 with the object after the change.
async fn alter_object<K: ObjectKind>(
    request: HttpRequest,
    path: web::Path<String>,
    body: web::Bytes,
    meta: web::Data<Meta>,
) -> Result<HttpResponse, MetaError> {
    reject_web_page(&request)?;
    let changes: K::Changes = parse_body(&body)?;
    let mut client = meta.connect().await?;
    let change = Change::begin(&mut client, &meta).await?;
    let object: K::Object = change.parse_object(K::PATH, &path).await?;
    let id = K::alter(&change, object, changes).await?;
    let object = change.read_object(K::PATH, &id).await?;
    change.commit().await?;
    Ok(json_response(object))
}

/// `DELETE /pg/{objects}/{id}?cascade=` → 200 with the object as it was before.
async fn drop_object<K: ObjectKind>(
    request: HttpRequest,
    path: web::Path<String>,
    meta: web::Data<Meta>,
) -> Result<HttpResponse, MetaError> {
    reject_web_page(&request)?;
    let cascades = wants_cascade(request.query_string())?;
    let mut client = meta.connect().await?;
    let change = Change::begin(&mut client, &meta).await?;
    // Read before the DROP, because the response contains the object.
    let text = change.read_object(K::PATH, &path).await?;
    let object: K::Object = change.parse_object(K::PATH, &path).await?;
    change.run(&K::drop_statement(&object, cascades)).await?;
    change.commit().await?;
    Ok(json_response(text))
}
