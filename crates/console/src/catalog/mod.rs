//! `GET /api/catalog`: every table and column, with an ETag.
//!
//! The response is cached with the fingerprint of the system catalog. If nothing has been written since the last request, the
//! cached response is sent. Otherwise the fingerprint is computed, and the catalog is read again if it differs, which it does after DDL.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::http::Method;
use actix_web::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, IF_NONE_MATCH, VARY};
use actix_web::{HttpRequest, HttpResponse, web};
use selvedge_introspection::{CatalogReader, catalog_fingerprint, read_snapshot};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::{ConsoleState, Level};

/// The quality of brotli: low enough to be quick, and the result is still a tenth of the JSON.
const BROTLI_QUALITY: u32 = 4;
/// The size of brotli's window as a power of two: 1 MiB.
const BROTLI_WINDOW_BITS: u32 = 20;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    vec![ApiRoute::new(
        Method::GET,
        "/api/catalog",
        Access::From(Level::Viewer),
        show_catalog,
    )]
}

/// A catalog in the compressed form in which it is sent.
struct Rendered {
    version: String,
    json: web::Bytes,
    brotli: web::Bytes,
}

/// Whose catalog it is: a console, identified by the address of its state because tests run several in one process, and a level,
/// because each level has its own database login.
type CatalogOwner = (usize, Level);

/// A catalog that has been sent, and the database's snapshot at which it was last known to be current.
struct LastCatalog {
    owner: CatalogOwner,
    snapshot: String,
    rendered: Arc<Rendered>,
}

/// The last catalog of each console and level.
static LAST_CATALOGS: Mutex<Vec<LastCatalog>> = Mutex::new(Vec::new());

/// `GET /api/catalog`
async fn show_catalog(
    state: web::Data<ConsoleState>,
    session: Session,
    request: HttpRequest,
) -> Result<HttpResponse, ConsoleError> {
    let rendered = current_catalog(&state, session.level).await?;
    // The ETag is the catalog's version, so a browser that has this version gets an empty answer.
    let etag = format!("\"{}\"", rendered.version);
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    if header(IF_NONE_MATCH).is_some_and(|known| known.contains(&etag)) {
        return Ok(HttpResponse::NotModified().insert_header((ETAG, etag)).finish());
    }
    let mut response = HttpResponse::Ok();
    response
        .content_type("application/json")
        .insert_header((ETAG, etag))
        .insert_header((VARY, "accept-encoding"));
    let accepts_brotli = header(ACCEPT_ENCODING).is_some_and(|list| list.contains("br"));
    Ok(if accepts_brotli {
        response
            .insert_header((CONTENT_ENCODING, "br"))
            .body(rendered.brotli.clone())
    } else {
        response.body(rendered.json.clone())
    })
}

async fn current_catalog(
    state: &web::Data<ConsoleState>,
    level: Level,
) -> Result<Arc<Rendered>, ConsoleError> {
    let owner = (Arc::as_ptr(&state.clone().into_inner()) as usize, level);
    let mut client = state.database.connection(level).await?;
    // Every open page asks once a second. If nothing has been written since the last request, the catalog cannot have changed.
    let snapshot = read_snapshot(&**client).await?;
    let known = find_last_catalog(owner);
    if let Some((last_snapshot, rendered)) = &known
        && *last_snapshot == snapshot
    {
        return Ok(Arc::clone(rendered));
    }
    let version = fingerprint(&format!("{level} {}", catalog_fingerprint(&**client).await?));
    if let Some((_, rendered)) = known.filter(|(_, rendered)| rendered.version == version) {
        store_last_catalog(owner, snapshot, &rendered);
        return Ok(rendered);
    }
    // Two requests at once may both read the catalog, which is harmless, because the second result replaces an equal
    // one.
    let reader = CatalogReader::begin(&mut client).await?;
    let catalog = reader.load_catalog(&state.config.exposed_schemas).await?;
    drop(reader);
    let mut body = serde_json::to_value(&catalog)?;
    body["version"] = json!(version);
    let json = serde_json::to_vec(&body)?;
    let mut brotli = brotli::CompressorWriter::new(Vec::new(), 4096, BROTLI_QUALITY, BROTLI_WINDOW_BITS);
    brotli
        .write_all(&json)
        .map_err(|error| ConsoleError::unavailable(error.to_string()))?;
    let rendered = Arc::new(Rendered {
        version,
        brotli: brotli.into_inner().into(),
        json: json.into(),
    });
    store_last_catalog(owner, snapshot, &rendered);
    Ok(rendered)
}

/// Returns the last catalog of a console and level, and the snapshot at which it was last known to be current.
fn find_last_catalog(owner: CatalogOwner) -> Option<(String, Arc<Rendered>)> {
    let last = LAST_CATALOGS.lock().unwrap_or_else(PoisonError::into_inner);
    last.iter()
        .find(|each| each.owner == owner)
        .map(|each| (each.snapshot.clone(), Arc::clone(&each.rendered)))
}

fn store_last_catalog(owner: CatalogOwner, snapshot: String, rendered: &Arc<Rendered>) {
    let mut last = LAST_CATALOGS.lock().unwrap_or_else(PoisonError::into_inner);
    last.retain(|each| each.owner != owner);
    last.push(LastCatalog {
        owner,
        snapshot,
        rendered: Arc::clone(rendered),
    });
}

fn fingerprint(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..12])
}
