//! The paths below `/pg`.

use std::sync::Arc;

use actix_web::{HttpResponse, web};
use serde_json::json;

use crate::changes::{add_collection_routes, add_object_routes};
use crate::lists::{self, Listing};
use crate::query;
use crate::state::Meta;

/// Mounts the service in a scope: lists and objects, `/query`, `/config/version` and `/generators/{language}`. Every other path
/// is answered 404.
pub fn configure(meta: Arc<Meta>) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
    Box::new(move |app| {
        app.app_data(web::PayloadConfig::new(meta.config.body_bytes))
            .app_data(web::Data::from(meta))
            .route("/query", web::post().to(query::run_query))
            .route("/config/version", web::get().to(lists::get_version))
            .route("/generators/{language}", web::get().to(lists::get_types));
        for listing in lists::LISTINGS {
            mount_listing(app, listing);
        }
        app.default_service(web::to(answer_not_found));
    })
}

/// 404 for unknown paths. Compat: postgres-meta also responds 404, not 405, for an unknown method of a known path.
async fn answer_not_found() -> HttpResponse {
    HttpResponse::NotFound().json(json!({ "error": "Not found" }))
}

/// Mounts the list of one kind of object, and the path of a single one.
fn mount_listing(app: &mut web::ServiceConfig, listing: &'static Listing) {
    let all = web::resource([listing.path.to_owned(), format!("{}/", listing.path)])
        .app_data(web::Data::new(listing))
        .route(web::get().to(lists::list_objects));
    app.service(add_collection_routes(listing.path, all).default_service(web::to(answer_not_found)));
    if let Some(id_pattern) = listing.id_pattern {
        let one = web::resource(format!("{}/{{id:{id_pattern}}}", listing.path))
            .app_data(web::Data::new(listing))
            .route(web::get().to(lists::get_object));
        app.service(add_object_routes(listing.path, one).default_service(web::to(answer_not_found)));
    }
}
