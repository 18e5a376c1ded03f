//! Path → operation: the raw path is read into a [`Route`], and each route names the one function that serves it.

mod continue_check;
mod route;

use actix_web::{HttpRequest, HttpResponse, web};
use selvedge_gateway::sent_path;

use self::route::Route;
use crate::context::RequestContext;
use crate::error::StorageError;
use crate::state::StorageWorker;
use crate::{bucket, health, object, purge_cache, render, s3, tus};

/// Serves one request: reads its route and hands it to the operation.
///
/// # Errors
/// `RouteNotFound`, `MalformedUrl`, and those of the operation.
pub(crate) async fn serve_request(
    worker: StorageWorker,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let raw_path = sent_path(request.uri()).to_owned();
    let path = raw_path
        .strip_prefix(worker.storage().config().mount_path.as_str())
        .unwrap_or(&raw_path);
    let route = Route::parse(request.method(), path)?;
    if route.is_render() && worker.storage().renderer().is_none() {
        return Err(StorageError::RouteNotFound {
            method: request.method().to_string(),
            path: path.to_owned(),
        });
    }
    match route {
        // Two protocols that choose operation names and render errors themselves.
        Route::Resumable(route) => tus::serve_request(worker, request, payload, route).await,
        Route::S3 => Ok(s3::serve_request(worker, request, payload, path).await),
        route => {
            let operation = route.operation(request.method());
            dispatch(RequestContext::new(worker, request, operation), route, payload).await
        }
    }
}

async fn dispatch(
    context: RequestContext,
    route: Route,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let context = &context;
    match route {
        Route::ListBuckets => bucket::list_buckets(context).await,
        Route::CreateBucket => bucket::create_bucket(context, payload).await,
        Route::GetBucket(id) => bucket::get_bucket(context, &id).await,
        Route::UpdateBucket(id) => bucket::update_bucket(context, &id, payload).await,
        Route::DeleteBucket(id) => bucket::delete_bucket(context, &id, payload).await,
        Route::EmptyBucket(id) => bucket::empty_bucket(context, &id, payload).await,
        Route::GetLifecycle(id) => bucket::get_lifecycle(context, &id).await,
        Route::SetLifecycle(id) => bucket::set_lifecycle(context, &id, payload).await,
        Route::DeleteLifecycle(id) => bucket::delete_lifecycle(context, &id, payload).await,
        Route::UploadObject(path) => object::upload_object(context, path, payload).await,
        Route::UpdateObject(path) => object::update_object(context, path, payload).await,
        Route::SignUpload(path) => object::sign_upload(context, path).await,
        Route::UploadSigned(path) => object::upload_signed(context, path, payload).await,
        Route::GetPublic(path) => object::get_public(context, &path).await,
        Route::GetSigned(path) => object::get_signed(context, &path).await,
        Route::GetAuthenticated(path) => object::get_authenticated(context, &path).await,
        Route::GetObject(path) => object::get_object(context, &path).await,
        Route::GetInfo(path) => object::get_info(context, &path).await,
        Route::GetInfoAuthenticated(path) => object::get_info_authenticated(context, &path).await,
        Route::GetInfoPublic(path) => object::get_info_public(context, &path).await,
        Route::ListObjects(bucket) => object::list_objects(context, &bucket, payload).await,
        Route::ListObjectsV2(bucket) => object::list_objects_v2(context, &bucket, payload).await,
        Route::DeleteObject(path) => object::delete_object(context, &path, payload).await,
        Route::DeleteObjects(bucket) => object::delete_objects(context, &bucket, payload).await,
        Route::MoveObject => object::move_object(context, payload).await,
        Route::CopyObject => object::copy_object(context, payload).await,
        Route::SignObject(path) => object::sign_object(context, &path, payload).await,
        Route::SignObjects(bucket) => object::sign_objects(context, &bucket, payload).await,
        Route::RenderPublic(path) => render::render_public(context, &path).await,
        Route::RenderAuthenticated(path) => render::render_authenticated(context, &path).await,
        Route::RenderSigned(path) => render::render_signed(context, &path).await,
        Route::PurgeCache(scope) => purge_cache::purge_cache(context, scope),
        Route::Health => health::get_health(context).await,
        Route::Status => Ok(health::get_status()),
        Route::Version => Ok(health::get_version()),
        Route::Resumable(_) | Route::S3 => Err(StorageError::internal("another protocol's route")),
    }
}
