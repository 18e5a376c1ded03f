//! The root documents that were rendered last, since rendering one takes milliseconds and anybody may ask for it: one for each catalog, schema and
//! set of privileges, until the configuration changes. Tenants have catalogs of their own, and ask by turns.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use lru::LruCache;
use selvedge_postgres::{Row, write_json_string};

use crate::catalog::Catalog;
use crate::config::EffectiveConfig;

/// Documents that each worker keeps: of a few roles, schemas and tenants.
const KEPT: usize = 8;

/// The documents of one worker.
pub(crate) struct RootCache(RefCell<Inner>);

struct Inner {
    config: Weak<EffectiveConfig>,
    documents: LruCache<Key, Rendered>,
}

/// What a document depends on besides the configuration: the catalog by its address, the schema, and the row of [`super::write_privilege_query`].
#[derive(PartialEq, Eq, Hash)]
struct Key {
    catalog: usize,
    schema: String,
    privileges: Vec<Option<Bytes>>,
}

/// A document without the client's host, of which there may be any number.
#[derive(Clone)]
struct Rendered {
    /// Keeps its address from being given to another one.
    catalog: Weak<Catalog>,
    before_host: Bytes,
    after_host: Bytes,
}

impl Default for RootCache {
    fn default() -> Self {
        let kept = NonZeroUsize::new(KEPT).unwrap_or(NonZeroUsize::MIN);
        Self(RefCell::new(Inner {
            config: Weak::new(),
            documents: LruCache::new(kept),
        }))
    }
}

impl RootCache {
    /// The document of a schema for those who have the privileges, which `render` makes for a host.
    pub(super) fn document(
        &self,
        (catalog, config): (&Arc<Catalog>, &Arc<EffectiveConfig>),
        (schema, privileges): (&str, Option<&Row>),
        host: &str,
        render: impl FnOnce(&str) -> String,
    ) -> String {
        let mut inner = self.0.borrow_mut();
        inner.forget_of_others(config);
        let key = Key {
            catalog: Arc::as_ptr(catalog).addr(),
            schema: schema.to_owned(),
            privileges: privileges
                .map(|row| (0..row.len()).map(|column| row.bytes(column)).collect())
                .unwrap_or_default(),
        };
        if let Some(found) = inner.documents.get(&key) {
            return found.with_host(host);
        }
        inner.forget_replaced_catalogs();
        let rendered = Rendered::new(catalog, render);
        let document = rendered.with_host(host);
        inner.documents.put(key, rendered);
        document
    }
}

impl Inner {
    fn forget_of_others(&mut self, config: &Arc<EffectiveConfig>) {
        let config = Arc::downgrade(config);
        if !self.config.ptr_eq(&config) {
            self.documents.clear();
            self.config = config;
        }
    }

    fn forget_replaced_catalogs(&mut self) {
        let is_replaced = |document: &Rendered| document.catalog.strong_count() == 0;
        while let Some((_, last)) = self.documents.peek_lru()
            && is_replaced(last)
        {
            self.documents.pop_lru();
        }
    }
}

impl Rendered {
    /// Renders for a host that no text of the project contains, and cuts it out.
    fn new(catalog: &Arc<Catalog>, render: impl FnOnce(&str) -> String) -> Self {
        let random = || RandomState::new().hash_one(());
        let mark = format!("{:016x}{:016x}", random(), random());
        let text = Bytes::from(render(&mark));
        let quoted = format!("\"{mark}\"");
        let at = memchr::memmem::find(&text, quoted.as_bytes());
        // A proxy's address stands in the place of the client's.
        let (start, end) = at.map_or((text.len(), text.len()), |at| (at, at + quoted.len()));
        Self {
            catalog: Arc::downgrade(catalog),
            before_host: text.slice(..start),
            after_host: text.slice(end..),
        }
    }

    fn with_host(&self, host: &str) -> String {
        let mut text = self.before_host.to_vec();
        if !self.after_host.is_empty() {
            write_json_string(&mut text, host);
            text.extend_from_slice(&self.after_host);
        }
        String::from_utf8(text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RestConfig;

    #[test]
    fn gw_049_a_document_is_rendered_once_for_all_hosts() {
        let mut times = 0;
        let catalog = Arc::new(Catalog::example());
        let rendered = Rendered::new(&catalog, |host| {
            times += 1;
            format!(r#"{{"host":"{host}","basePath":"/"}}"#)
        });

        let hosts = ["a.example", "b\".example"].map(|host| rendered.with_host(host));

        assert_eq!(hosts[0], r#"{"host":"a.example","basePath":"/"}"#);
        assert_eq!(hosts[1], r#"{"host":"b\".example","basePath":"/"}"#);
        assert_eq!(times, 1);
    }

    #[test]
    fn gw_049_tenants_that_ask_by_turns_keep_their_documents() {
        let cache = RootCache::default();
        let config = EffectiveConfig::new(RestConfig::default(), None);
        let config = Arc::new(config);
        let catalogs = [(); 2].map(|()| Arc::new(Catalog::example()));
        let mut times = 0;

        for _ in 0..3 {
            for (number, catalog) in catalogs.iter().enumerate() {
                let document = cache.document((catalog, &config), ("public", None), "h", |host| {
                    times += 1;
                    format!(r#"{{"host":"{host}","of":{number}}}"#)
                });
                assert_eq!(document, format!(r#"{{"host":"h","of":{number}}}"#));
            }
        }

        assert_eq!(times, 2);
    }

    #[test]
    fn gw_049_a_document_behind_a_proxy_has_no_host_of_the_client() {
        let catalog = Arc::new(Catalog::example());
        let rendered = Rendered::new(&catalog, |_| r#"{"host":"proxy:443"}"#.to_owned());

        assert_eq!(rendered.with_host("x"), r#"{"host":"proxy:443"}"#);
    }
}
