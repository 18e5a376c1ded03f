//! A parsed request. Names in it are not looked up in the catalog yet.

use std::borrow::Cow;

use actix_web::http::header::{self, HeaderMap};
use bytes::Bytes;

use super::action::{Action, Invoke, Mutation, Resource};
use super::body::{self, Payload};
use super::media::{self, MediaType};
use super::preferences::Preferences;
use super::query::QueryParams;
use super::range::RowRange;
use crate::config::RestConfig;
use crate::error::RequestError;

/// A parsed request. Names in it are not looked up in the catalog yet.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    /// The action that the method and path choose.
    pub action: Action,
    /// HTTP method, which SQL code can read as `request.method`.
    pub method: String,
    /// Path below the service's prefix, not decoded, for SQL to read.
    pub path: String,
    /// Active schema: the one that a profile header names, else that of the caller's tenant, else the first exposed one.
    pub schema: String,
    /// Whether responses name the schema in `Content-Profile`.
    pub names_schema: bool,
    pub query: QueryParams,
    /// Range of the root's rows: query string and `Range` header together.
    pub range: RowRange,
    pub preferences: Preferences,
    /// Accepted media types, most wanted first.
    pub accept: Vec<MediaType>,
    /// Type of the body; JSON where none is given.
    pub content_type: MediaType,
    pub payload: Option<Payload>,
    /// Names from the `columns` parameter, else the keys of the payload.
    pub columns: Vec<String>,
}

impl ApiRequest {
    /// Parses what the client sent. `of_tenant` is the schema of the caller's tenant.
    ///
    /// # Errors
    /// PGRST1xx; of several faults, the one that PostgREST reports.
    pub fn parse(
        method: &str,
        path: &str,
        query: &str,
        headers: &HeaderMap,
        body: &Bytes,
        config: &RestConfig,
        of_tenant: Option<String>,
    ) -> Result<Self, RequestError> {
        // The order of these steps decides which of several faults is reported, and equals PostgREST's.
        let resource = Resource::from_path(path, config)?;
        let (schema, names_schema) = active_schema(method, headers, config, of_tenant)?;
        let action = resource.into_action(method, &schema)?;
        let query = QueryParams::parse(query, action.takes_arguments_from_query(), config)?;
        let range = root_range(method, &query, headers)?;
        let content_type = header_text(headers, header::CONTENT_TYPE)
            .map_or(MediaType::Json, |text| MediaType::parse(&text));
        let mut request = Self {
            action,
            method: method.to_owned(),
            path: path.to_owned(),
            schema,
            names_schema,
            query,
            range,
            preferences: Preferences::parse(
                headers.get_all("prefer").map(lossy_text),
                config.transaction_end.allows_override(),
            ),
            accept: media::parse_accept(header_text(headers, header::ACCEPT).as_deref()),
            content_type,
            payload: None,
            columns: Vec::new(),
        };
        request.read_body(body)?;
        Ok(request)
    }

    /// Reads the body where the action takes one; `columns` counts only where columns are filled.
    fn read_body(&mut self, body: &Bytes) -> Result<(), RequestError> {
        let takes_columns = match self.action {
            Action::Mutate {
                mutation: Mutation::Create | Mutation::Update,
                ..
            }
            | Action::Call {
                invoke: Invoke::Post, ..
            } => true,
            Action::Mutate {
                mutation: Mutation::SingleUpsert,
                ..
            } => false,
            _ => return Ok(()),
        };
        let columns = self.query.columns.as_deref().filter(|_| takes_columns);
        let parsed = body::parse_body(body, &self.content_type, columns, self.action.is_call())?;
        self.payload = Some(parsed.payload);
        self.columns = parsed.keys;
        Ok(())
    }

    /// Whether only the response's headers are asked for (HEAD).
    pub fn is_headers_only(&self) -> bool {
        self.method == "HEAD"
    }
}

/// The value of a header as text; of one that was sent several times, the first.
fn header_text(headers: &HeaderMap, name: header::HeaderName) -> Option<Cow<'_, str>> {
    headers.get(name).map(lossy_text)
}

/// A header's text. Bytes that are not UTF-8 are replaced rather than ignored: the header then matches nothing that is
/// served, instead of counting as absent.
fn lossy_text(value: &header::HeaderValue) -> Cow<'_, str> {
    String::from_utf8_lossy(value.as_bytes())
}

/// The active schema, and whether responses name it.
///
/// # Errors
/// PGRST106.
fn active_schema(
    method: &str,
    headers: &HeaderMap,
    config: &RestConfig,
    of_tenant: Option<String>,
) -> Result<(String, bool), RequestError> {
    // Writes choose their schema by Content-Profile, reads by Accept-Profile.
    let name = match method {
        "POST" | "PATCH" | "PUT" | "DELETE" => "content-profile",
        _ => "accept-profile",
    };
    match headers.get(name) {
        None => {
            let schema = of_tenant.unwrap_or_else(|| config.default_schema().to_owned());
            Ok((schema, config.schemas.len() != 1))
        }
        Some(profile) => {
            let profile = String::from_utf8_lossy(profile.as_bytes()).into_owned();
            // Only exposed schemas may be named: a profile header must not reach any other.
            if config.exposes(&profile) {
                Ok((profile, true))
            } else {
                Err(RequestError::unknown_schema(profile, &config.schemas))
            }
        }
    }
}

/// The range of the root's rows. The `Range` header counts for GET alone (RFC 9110 §14.2), and `limit=0` wins over it.
///
/// # Errors
/// PGRST103 for a range that holds no row, PGRST114 for a PUT with a range.
fn root_range(method: &str, query: &QueryParams, headers: &HeaderMap) -> Result<RowRange, RequestError> {
    let parameters = query.root_range;
    let header = match headers.get(header::RANGE).and_then(|value| value.to_str().ok()) {
        Some(text) if method == "GET" => RowRange::from_header(text),
        _ => RowRange::ALL,
    };
    // `limit=0` requests an empty page, which a Range header must not turn into an error.
    let both = if parameters.is_limit_zero() {
        RowRange::NONE
    } else {
        header.intersect(parameters)
    };
    if both.is_empty() && !parameters.is_limit_zero() {
        return Err(if header.is_empty() {
            RequestError::RangeReversed
        } else {
            RequestError::LimitNegative
        });
    }
    if method == "PUT" && both != RowRange::ALL {
        return Err(RequestError::PutRange);
    }
    Ok(both)
}
