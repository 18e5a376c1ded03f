//! The three routes that serve a rendered image: public, authenticated and signed.

use std::net::IpAddr;

use actix_web::HttpResponse;
use actix_web::http::header;
use futures_util::StreamExt;
use selvedge_gateway::{Caller, sent_path};
use selvedge_limits::network_of;

use super::cache::RenderKey;
use super::output::choose_output;
use super::rendered_image::RenderedImage;
use super::renderer::{RenderJob, Renderer};
use super::transform::Transform;
use crate::backend::{BlobBody, Version};
use crate::context::RequestContext;
use crate::database::object_row::ObjectRow;
use crate::error::StorageError;
use crate::object::lookup::{find_public_object, find_visible_object};
use crate::request::object_path::ObjectPath;
use crate::response::object_headers::{Freshness, describe_rendered_image};
use crate::state::Storage;
use crate::url_token;
use crate::versions::read_wanted_version;

/// How often the source is looked for when overwrites keep removing the blob that was just looked up.
const MAX_ATTEMPTS: usize = 5;
/// Largest source in bytes.
const MAX_SOURCE_BYTES: u64 = 25 * 1024 * 1024;

/// `/render/image/public/{bucket}/{key}`: no token, public buckets only. Source: STORE-093.
///
/// # Errors
/// `Schema`; `NoSuchBucket` also when the bucket is private; `NoSuchKey`; `Unrenderable`.
pub(crate) async fn render_public(
    context: &RequestContext,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    check_rate(context)?;
    let transform = Transform::from_query(&context.query)?;
    target.check_names()?;
    let version = read_wanted_version(context)?;
    let service = context.service();
    send_rendered(context, &transform, Freshness::Stored, async || {
        find_public_object(&service, target, version.as_deref()).await
    })
    .await
}

/// `/render/image/authenticated/{bucket}/{key}`: under the policies, also on public buckets. Source: STORE-093.
///
/// # Errors
/// Those of a missing or bad token; `Schema`, `NoSuchKey`, `Unrenderable`.
pub(crate) async fn render_authenticated(
    context: &RequestContext,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    check_rate(context)?;
    let caller = context.caller()?;
    let transform = Transform::from_query(&context.query)?;
    target.check_names()?;
    let version = read_wanted_version(context)?;
    send_rendered(context, &transform, Freshness::Stored, async || {
        find_visible_object(&caller, target, version.as_deref()).await
    })
    .await
}

/// `/render/image/sign/{bucket}/{key}?token=`: for holders of a URL token; the transformation is the one in the token.
/// Source: STORE-094.
///
/// # Errors
/// `Schema` without a token, `InvalidJwt`, `InvalidSignature`, `NoSuchKey`, `Unrenderable`.
pub(crate) async fn render_signed(
    context: &RequestContext,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    check_rate(context)?;
    let token = context.query.required("token")?;
    let grant = url_token::verify_download_token(context.storage(), token, target)?;
    target.check_names()?;
    let service = context.service();
    let freshness = Freshness::SignedUntil(grant.expires_at);
    send_rendered(context, &grant.transform, freshness, async || {
        find_visible_object(&service, target, grant.version.as_deref()).await
    })
    .await
}

/// Refuses a client that requests this path too often.
///
/// # Errors
/// `RenderRate`.
fn check_rate(context: &RequestContext) -> Result<(), StorageError> {
    let Some(renderer) = context.storage().renderer() else {
        return Ok(());
    };
    let client = Caller::extract(&context.request).remote_ip();
    if renderer.try_acquire(client, sent_path(context.request.uri())) {
        Ok(())
    } else {
        Err(StorageError::RenderRate)
    }
}

/// Renders the object that `lookup` finds. When an overwrite has removed its blob meanwhile, the row is looked up again
/// and the new version is rendered.
async fn send_rendered(
    context: &RequestContext,
    transform: &Transform,
    freshness: Freshness,
    lookup: impl AsyncFn() -> Result<ObjectRow, StorageError>,
) -> Result<HttpResponse, StorageError> {
    let mut row = lookup().await?;
    for _ in 0..MAX_ATTEMPTS {
        match render_row(context, transform, freshness, &row).await {
            Err(StorageError::BlobMissing) => {
                let current = lookup().await?;
                if current.version == row.version {
                    break;
                }
                row = current;
            }
            response => return response,
        }
    }
    Err(StorageError::BlobMissing)
}

async fn render_row(
    context: &RequestContext,
    transform: &Transform,
    freshness: Freshness,
    row: &ObjectRow,
) -> Result<HttpResponse, StorageError> {
    let renderer = context
        .storage()
        .renderer()
        .ok_or_else(|| StorageError::internal("image transformation is off"))?;
    let version = row.blob_version().ok_or(StorageError::BlobMissing)?;
    let output = choose_output(transform, context.header("accept"));
    // The claim does not name a format that was negotiated from Accept, so the output is part of the recipe too.
    let recipe = format!("{} {output:?}", transform.claim());
    let job = RenderJob {
        key: RenderKey::new(version, &recipe),
        transform: transform.clone(),
        output,
    };
    let variant = job.key.short_recipe().to_owned();
    let client = network_of(Caller::extract(&context.request).remote_ip());
    let image = get_image(context.storage(), renderer, job, version, Some(client)).await?;

    let mut response = HttpResponse::Ok();
    describe_rendered_image(context, &mut response, row, freshness, &variant)?;
    response.insert_header((header::CONTENT_TYPE, image.content_type));
    if transform.format.is_none() {
        response.insert_header((header::VARY, "Accept"));
    }
    if let Some(transformations) = transform.header() {
        response.insert_header(("x-transformations", transformations));
    }
    Ok(response.body(image.bytes))
}

/// Renders an object for another part of the server, as WebP that fits into a box of this size in pixels. With `crops`
/// the image fills the box and what extends beyond it is cut off.
///
/// # Errors
/// `BlobMissing`, `Unrenderable`, `RenderTimeout`, `RenderOverload`.
pub(crate) async fn render_for_server(
    storage: &Storage,
    row: &ObjectRow,
    (width, height): (u32, u32),
    crops: bool,
) -> Result<Vec<u8>, StorageError> {
    let renderer = storage
        .renderer()
        .ok_or_else(|| StorageError::internal("image transformation is off"))?;
    let version = row.blob_version().ok_or(StorageError::BlobMissing)?;
    let transform = Transform::in_box(width, height, crops);
    let output = choose_output(&transform, None);
    let recipe = format!("{} {output:?}", transform.claim());
    let job = RenderJob {
        key: RenderKey::new(version, &recipe),
        transform,
        output,
    };
    Ok(get_image(storage, renderer, job, version, None).await?.bytes)
}

/// The image of a job: cached, or rendered from the blob. `client` is who asks for it, unless the server itself does.
async fn get_image(
    storage: &Storage,
    renderer: &Renderer,
    job: RenderJob,
    version: Version,
    client: Option<IpAddr>,
) -> Result<RenderedImage, StorageError> {
    let read_source = async || {
        let reader = storage.backend().open(version).await?;
        let size = reader.size_bytes();
        if size > MAX_SOURCE_BYTES {
            return Err(StorageError::Unrenderable(
                "The source image file is too large to process",
            ));
        }
        // The size was checked above, so a client cannot make this allocation large.
        let mut source = Vec::with_capacity(size as usize);
        match reader.read(0, size) {
            BlobBody::Whole(bytes) => source.extend_from_slice(&bytes),
            BlobBody::Stream(mut stream) => {
                while let Some(chunk) = stream.next().await {
                    source.extend_from_slice(&chunk?);
                }
            }
        }
        Ok(source)
    };
    renderer.get_or_render(job, client, read_source).await
}
