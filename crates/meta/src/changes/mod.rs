//! POST, PATCH and DELETE of database objects, each one transaction on a connection of its own.

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

/// Adds the routes that create objects to the resource of their list, where the original has them.
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
        // Privileges have no ids: both directions take lists of them at the path of all.
        "/table-privileges" => resource
            .route(web::post().to(grant_on_tables))
            .route(web::delete().to(revoke_on_tables)),
        "/column-privileges" => resource
            .route(web::post().to(grant_on_columns))
            .route(web::delete().to(revoke_on_columns)),
        _ => resource,
    }
}

/// Adds the routes that change and drop an object to the resource of a single one.
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

/// `POST /pg/{objects}`: creates an object and answers with it.
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
    // Still in the transaction, so that nobody can have changed or dropped the object in between.
    let object = change.read_object(K::PATH, &id).await?;
    change.commit().await?;
    Ok(json_response(object))
}

/// `PATCH /pg/{objects}/{id}`: changes what the body names and answers with the object as it is then.
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

/// `DELETE /pg/{objects}/{id}`: drops an object and answers with it as it was.
async fn drop_object<K: ObjectKind>(
    request: HttpRequest,
    path: web::Path<String>,
    meta: web::Data<Meta>,
) -> Result<HttpResponse, MetaError> {
    reject_web_page(&request)?;
    let cascades = wants_cascade(request.query_string())?;
    let mut client = meta.connect().await?;
    let change = Change::begin(&mut client, &meta).await?;
    // Read first: afterwards there is nothing to answer with.
    let text = change.read_object(K::PATH, &path).await?;
    let object: K::Object = change.parse_object(K::PATH, &path).await?;
    change.run(&K::drop_statement(&object, cascades)).await?;
    change.commit().await?;
    Ok(json_response(text))
}
