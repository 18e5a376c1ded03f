//! The catalogs of schemas that are exposed by a pattern, one of each schema.
//!
//! There may be thousands of them, so only their names are read with the catalog of the schemas that are named one by one. The
//! catalog of such a schema is read when a request first asks for it, and dropped when many others were asked for since.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use tokio::sync::OnceCell;

use crate::catalog::Catalog;

/// Catalogs that are kept.
const KEPT: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");

/// A catalog, once it is read. Requests that come meanwhile wait for the one that reads.
type Place = Arc<OnceCell<Arc<Catalog>>>;

/// The schemas that patterns expose, and the catalogs of those that were asked for.
pub(crate) struct TenantCatalogs {
    /// `search_path` by schema.
    search_paths: HashMap<String, String>,
    catalogs: Mutex<LruCache<String, Place>>,
}

impl TenantCatalogs {
    /// Without catalogs yet.
    pub(super) fn new(search_paths: HashMap<String, String>) -> Self {
        Self {
            search_paths,
            catalogs: Mutex::new(LruCache::new(KEPT)),
        }
    }

    /// How many schemas there are.
    pub(super) fn len(&self) -> usize {
        self.search_paths.len()
    }

    /// The `search_path` of a schema, if a pattern exposes it.
    pub(crate) fn search_path(&self, schema: &str) -> Option<&str> {
        self.search_paths.get(schema).map(String::as_str)
    }

    /// The catalog of a schema; `load` reads it unless it is here.
    ///
    /// # Errors
    /// That of `load`; the next request tries again.
    pub(super) async fn find_or_load<E>(
        &self,
        schema: &str,
        load: impl Future<Output = Result<Catalog, E>>,
    ) -> Result<Arc<Catalog>, E> {
        // Locked only to find the place, not while the catalog is read.
        let place = {
            let mut catalogs = self.catalogs.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(catalogs.get_or_insert_ref(schema, Place::default))
        };
        let read = async { load.await.map(Arc::new) };
        place.get_or_try_init(|| read).await.cloned()
    }
}
