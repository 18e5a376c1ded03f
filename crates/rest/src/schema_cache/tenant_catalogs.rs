//! The catalogs of schemas that patterns expose; each schema has its own.
//!
//! There may be thousands of such schemas, so a reload reads only their names. A schema's catalog is read at the first request on
//! it, and dropped when [`MAX_CATALOGS`] other schemas have been used since.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use tokio::sync::OnceCell;

use crate::catalog::Catalog;

/// Largest number of catalogs that are kept.
const MAX_CATALOGS: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");

/// The entry of a catalog. While one request reads it, others on the same schema wait for that read.
type Place = Arc<OnceCell<Arc<Catalog>>>;

/// The schemas that patterns expose, and the catalogs of those that were used recently.
pub(crate) struct TenantCatalogs {
    /// `search_path` of each schema.
    search_paths: HashMap<String, String>,
    catalogs: Mutex<LruCache<String, Place>>,
}

impl TenantCatalogs {
    /// Creates the cache without catalogs.
    pub(super) fn new(search_paths: HashMap<String, String>) -> Self {
        Self {
            search_paths,
            catalogs: Mutex::new(LruCache::new(MAX_CATALOGS)),
        }
    }

    /// Number of schemas.
    pub(super) fn len(&self) -> usize {
        self.search_paths.len()
    }

    /// Returns the `search_path` of a schema; `None` unless a pattern exposes it.
    pub(crate) fn search_path(&self, schema: &str) -> Option<&str> {
        self.search_paths.get(schema).map(String::as_str)
    }

    /// Returns a schema's catalog, which `load` reads if it is not cached.
    ///
    /// # Errors
    /// The error of `load`, which is not cached: the next request tries again.
    pub(super) async fn find_or_load<E>(
        &self,
        schema: &str,
        load: impl Future<Output = Result<Catalog, E>>,
    ) -> Result<Arc<Catalog>, E> {
        // The lock is held only to find the entry, not while the catalog is read.
        let place = {
            let mut catalogs = self.catalogs.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(catalogs.get_or_insert_ref(schema, Place::default))
        };
        let read = async { load.await.map(Arc::new) };
        place.get_or_try_init(|| read).await.cloned()
    }
}
