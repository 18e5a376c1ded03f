//! Pictures in other sizes and formats: `GET /render/image/{public|authenticated|sign}/{bucket}/{key}`.
//!
//! Three roads to an object, as for downloads; what shall be done comes from the query ([`transform`]), on the signed road
//! from the token alone. The picture comes from the [`pool`], which keeps what it has made ([`cache`]) and lets
//! [`picture`] do the work away from the event loops.

mod cache;
mod picture;
mod pool;
mod rate;
mod transform;

use actix_web::HttpResponse;
use actix_web::http::header;
use futures_util::StreamExt;
use selvedge_gateway::Caller;

use self::cache::Key;
use self::picture::Output;
use self::pool::Order;
use crate::asset::{self, Freshness};
use crate::backend::BlobBody;
use crate::error::StorageError;
use crate::object::{check_address, find, find_public};
use crate::object_row::ObjectRow;
use crate::route::ObjectPath;
use crate::serve::Call;
use crate::url_token;

pub(crate) use pool::Renderer;
pub(crate) use transform::Transform;

/// Bytes of a source.
const MAX_SOURCE_BYTES: u64 = 25 * 1024 * 1024;

/// `/render/image/public/{bucket}/{key}`: no token, public buckets only. Source: STORE-093.
///
/// # Errors
/// `Schema`; `NoSuchBucket` also when the bucket is private; `NoSuchKey`; `Unrenderable`.
pub(crate) async fn public(call: &Call, target: &ObjectPath) -> Result<HttpResponse, StorageError> {
    admit(call)?;
    let transform = Transform::of_query(&call.query)?;
    check_address(target)?;
    let service = call.service();
    respond(call, &transform, Freshness::Stored, async || {
        find_public(&service, target).await
    })
    .await
}

/// `/render/image/authenticated/{bucket}/{key}`: what the caller may select, on public buckets too. Source: STORE-093.
///
/// # Errors
/// Those of a missing or bad token; `Schema`, `NoSuchKey`, `Unrenderable`.
pub(crate) async fn authenticated(call: &Call, target: &ObjectPath) -> Result<HttpResponse, StorageError> {
    admit(call)?;
    let caller = call.caller()?;
    let transform = Transform::of_query(&call.query)?;
    check_address(target)?;
    respond(call, &transform, Freshness::Stored, async || {
        find::get_visible(&caller, target).await
    })
    .await
}

/// `/render/image/sign/{bucket}/{key}?token=`: whoever holds the token gets what was signed. Source: STORE-094.
///
/// # Errors
/// `Schema` without a token, `InvalidJwt`, `InvalidSignature`, `NoSuchKey`, `Unrenderable`.
pub(crate) async fn signed(call: &Call, target: &ObjectPath) -> Result<HttpResponse, StorageError> {
    admit(call)?;
    let token = call.query.required("token")?;
    let grant = url_token::verify_download(call.storage(), token, target)?;
    check_address(target)?;
    let service = call.service();
    let freshness = Freshness::SignedUntil(grant.expires_at);
    respond(call, &grant.transform, freshness, async || {
        find::get_visible(&service, target).await
    })
    .await
}

/// Whether this client may ask once more for this path.
fn admit(call: &Call) -> Result<(), StorageError> {
    let Some(renderer) = call.storage().renderer() else {
        return Ok(());
    };
    let client = Caller::of(&call.request).remote_ip();
    if renderer.admits(client, call.request.uri().path()) {
        Ok(())
    } else {
        Err(StorageError::RenderRate)
    }
}

async fn respond(
    call: &Call,
    transform: &Transform,
    freshness: Freshness,
    lookup: impl AsyncFn() -> Result<ObjectRow, StorageError>,
) -> Result<HttpResponse, StorageError> {
    let mut row = lookup().await?;
    // An overwrite may remove what we were about to read; then the new object is rendered.
    for _ in 0..5 {
        match send(call, transform, freshness, &row).await {
            Err(StorageError::BlobMissing) => {
                let current = lookup().await?;
                if current.version == row.version {
                    break;
                }
                row = current;
            }
            answer => return answer,
        }
    }
    Err(StorageError::BlobMissing)
}

async fn send(
    call: &Call,
    transform: &Transform,
    freshness: Freshness,
    row: &ObjectRow,
) -> Result<HttpResponse, StorageError> {
    let renderer = call
        .storage()
        .renderer()
        .ok_or_else(|| StorageError::internal("nothing renders"))?;
    let version = row.blob_version().ok_or(StorageError::BlobMissing)?;
    let output = output(transform, call.header("accept"));
    // Compat: the header's text says nothing of the format that was negotiated.
    let recipe = format!("{} {output:?}", transform.claim());
    let order = Order {
        key: Key::new(version, &recipe),
        transform: transform.clone(),
        output,
    };
    let variant = order.key.short().to_owned();
    let picture = renderer
        .picture(order, async || {
            let reader = call.storage().backend().open(version).await?;
            let size = reader.size_bytes();
            if size > MAX_SOURCE_BYTES {
                return Err(StorageError::Unrenderable(
                    "The source image file is too large to process",
                ));
            }
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
        })
        .await?;

    let mut response = HttpResponse::Ok();
    asset::describe_rendered(call, &mut response, row, freshness, &variant)?;
    response.insert_header((header::CONTENT_TYPE, picture.content_type));
    if transform.format.is_none() {
        response.insert_header((header::VARY, "Accept"));
    }
    if let Some(done) = transform.header() {
        response.insert_header(("x-transformations", done));
    }
    Ok(response.body(picture.bytes))
}

/// The named format, or else the best that the client takes and that costs little: WebP; AVIF only where WebP is refused.
fn output(transform: &Transform, accept: Option<&str>) -> Output {
    match transform.format {
        Some(transform::Format::Origin) => Output::Origin,
        Some(transform::Format::Avif) => Output::Avif,
        Some(transform::Format::Webp) => Output::Webp,
        None if accepts(accept, "image/webp") => Output::Webp,
        None if accepts(accept, "image/avif") => Output::Avif,
        None => Output::Origin,
    }
}

/// Whether a type is named and not refused; wildcards promise nothing.
fn accepts(accept: Option<&str>, wanted: &str) -> bool {
    accept.unwrap_or_default().split(',').any(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let named = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case(wanted));
        named
            && !parts.any(|part| {
                part.strip_prefix("q=")
                    .is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q <= 0.0))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_093_the_best_accepted_format_is_chosen() {
        let negotiated = |accept: &str| output(&Transform::default(), Some(accept));
        for (accept, expected) in [
            ("image/avif,image/webp,image/apng,*/*;q=0.8", Output::Webp),
            ("image/webp", Output::Webp),
            ("image/avif, image/webp;q=0", Output::Avif),
            ("*/*", Output::Origin),
            ("image/*", Output::Origin),
            ("", Output::Origin),
        ] {
            assert_eq!(negotiated(accept), expected, "{accept}");
        }
    }
}
