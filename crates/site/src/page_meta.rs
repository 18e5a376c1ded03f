//! The head of a page, as the project's function describes it: `[selvedge] page_meta`.
//!
//! Crawlers and messengers read the head of a page and run no scripts. For each path the project's function is called
//! as `anon`, so it can return only what every visitor may see, and the head of `index.html` is written from its
//! result. When the function fails or is slow, the page is sent as it was built, so that the function cannot take the
//! site down.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use anyhow::{Result, bail};
use moka::sync::Cache;
use selvedge_postgres::{
    AccessMode, Param, RequestContext, RequestPool, RequestTransaction, SqlStatement, TransactionEnd,
    quote_identifier,
};

use super::asset::Asset;
use super::card::CardMeta;
use super::head::{PageMeta, write_head};

/// Time limit of one call: longer than an index lookup takes on a busy database, shorter than a visitor notices.
const TIME_LIMIT: Duration = Duration::from_millis(200);
/// How long a page is cached, and so how long a changed title may stay out of date.
const LIFETIME: Duration = Duration::from_secs(60);
const MAX_CACHED_PATHS: u64 = 1000;
/// Bytes of all cached pages with their compressed forms. A page counts as at least its share of the cached paths.
const MAX_CACHED_BYTES: u64 = 16 * 1024 * 1024;
/// Longest path for which the function is called. Longer ones belong to no page, and would fill the cache.
const MAX_PATH_BYTES: usize = 512;

/// A page or generated file as it is sent.
pub(super) struct MetaPage {
    pub(super) status: StatusCode,
    pub(super) asset: Asset,
    /// What is on the page's card.
    pub(super) card: Option<CardMeta>,
}

/// The project's function, and the pages written from its recent results.
pub struct PageMetaFunction {
    /// `select "schema"."function"($1::text)::text`.
    sql: String,
    pages: Cache<String, Option<Arc<MetaPage>>>,
}

impl PageMetaFunction {
    /// # Errors
    /// When `name` is not `schema.function`.
    pub fn parse(name: &str) -> Result<Self> {
        let parts: Vec<&str> = name.split('.').collect();
        let [schema, function] = parts[..] else {
            bail!("selvedge.page_meta: {name:?} is not of the form schema.function");
        };
        let (schema, function) = (quote_identifier(schema), quote_identifier(function));
        Ok(Self {
            sql: format!("select {schema}.{function}($1::text)::text"),
            pages: Cache::builder()
                .max_capacity(MAX_CACHED_BYTES)
                .weigher(|path: &String, page: &Option<Arc<MetaPage>>| {
                    let bytes = path.len() + page.as_ref().map_or(0, |page| page.asset.size_bytes());
                    let share = MAX_CACHED_BYTES / MAX_CACHED_PATHS;
                    u32::try_from(bytes).unwrap_or(u32::MAX).max(share as u32)
                })
                .time_to_live(LIFETIME)
                .build(),
        })
    }

    /// The page of a path, written from `index`, with an address of its card if these are drawn. `None` where the function returned null, failed or took too long.
    pub(super) async fn find_page(
        &self,
        requests: &RequestPool,
        path: &str,
        index: &str,
        (origin, draws_cards): (&str, bool),
    ) -> Option<Arc<MetaPage>> {
        if path.len() > MAX_PATH_BYTES {
            return None;
        }
        // A cached `None` means that the function returned null. Failures are not cached, so the next visitor tries
        // again.
        if let Some(page) = self.pages.get(path) {
            return page;
        }
        let meta = match tokio::time::timeout(TIME_LIMIT, self.call(requests, path, origin)).await {
            Ok(Ok(meta)) => meta,
            Ok(Err(error)) => {
                tracing::warn!(path, error = format!("{error:#}"), "page_meta failed");
                return None;
            }
            Err(_) => {
                tracing::warn!(path, "page_meta took longer than 200 ms");
                return None;
            }
        };
        let page = meta.map(|meta| Arc::new(write_page(meta, path, index, (origin, draws_cards))));
        self.pages.insert(path.to_owned(), page.clone());
        page
    }

    async fn call(&self, requests: &RequestPool, path: &str, origin: &str) -> Result<Option<PageMeta>> {
        let statement = SqlStatement {
            text: self.sql.clone(),
            params: vec![Param::text(path)],
            force_custom_plan: false,
        };
        let result = requests
            .run(RequestTransaction {
                // Read-only, because crawlers call this for any path at any rate.
                access: AccessMode::ReadOnly,
                isolation: None,
                context: RequestContext {
                    search_path: "pg_catalog",
                    role: "anon",
                    claims: r#"{"role":"anon"}"#,
                    method: "GET",
                    path,
                    headers: "{}",
                    cookies: "{}",
                    extra: &[("request.origin", origin)],
                },
                pre_request: None,
                statement: &statement,
                calls_function: true,
                replayed_to: None,
                client: None,
                turn: None,
                explain: None,
                end: TransactionEnd::Commit,
            })
            .await?;
        let Some(row) = result.rows.first() else {
            return Ok(None);
        };
        let json: Option<String> = row.try_get(0)?;
        Ok(json.as_deref().map(serde_json::from_str).transpose()?)
    }
}

fn write_page(mut meta: PageMeta, path: &str, index: &str, (origin, draws_cards): (&str, bool)) -> MetaPage {
    let status = meta
        .status
        .and_then(|status| StatusCode::from_u16(status).ok())
        .unwrap_or(StatusCode::OK);
    meta.card = meta.card.filter(CardMeta::is_writable);
    let asset = match &meta.body {
        Some(body) => Asset::new(path, body.clone().into_bytes()),
        None => Asset::new(
            "index.html",
            write_head(index, &meta, origin, draws_cards).into_bytes(),
        ),
    };
    asset.compress();
    MetaPage {
        status,
        asset,
        card: meta.card,
    }
}
