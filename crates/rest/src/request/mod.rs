//! First stage: bytes → what was asked. Knows HTTP and the query language, and no tables.

pub mod ast;
pub mod body;
pub(crate) mod grammar;
pub mod headers;
pub mod media;
mod parser;
pub mod preferences;
pub mod query;
pub mod range;

use crate::config::{OpenApiMode, RestConfig};
use crate::error::RequestError;
use crate::identifier::QualifiedName;
use actix_web::http::header::{self, HeaderMap};
use body::Payload;
use bytes::Bytes;
use media::MediaType;
use percent_encoding::percent_decode_str;
use preferences::Preferences;
use query::QueryParams;
use range::RowRange;
use std::borrow::Cow;

/// A write on a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    Create,
    Update,
    /// PUT: insert or replace the one row that the filters name.
    SingleUpsert,
    Delete,
}

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invoke {
    /// Arguments in the query string, read-only.
    Read { headers_only: bool },
    /// Arguments in the body.
    Post,
}

/// What the request wants done, on which object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Read {
        relation: QualifiedName,
        headers_only: bool,
    },
    Mutate {
        relation: QualifiedName,
        mutation: Mutation,
    },
    Call {
        function: QualifiedName,
        invoke: Invoke,
    },
    DescribeRelation(QualifiedName),
    DescribeFunction(QualifiedName),
    DescribeRoot,
    Root {
        headers_only: bool,
    },
}

impl Action {
    fn is_call(&self) -> bool {
        matches!(self, Self::Call { .. })
    }

    fn takes_arguments_from_query(&self) -> bool {
        matches!(
            self,
            Self::Call {
                invoke: Invoke::Read { .. },
                ..
            }
        )
    }
}

/// One request, understood as far as that is possible without the catalog.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    pub action: Action,
    pub method: String,
    /// Path below the service's prefix, not decoded.
    pub path: String,
    /// Active schema.
    pub schema: String,
    /// Whether responses name the schema in `Content-Profile`.
    pub names_schema: bool,
    pub query: QueryParams,
    /// Root range: query string and `Range` header together.
    pub range: RowRange,
    pub preferences: Preferences,
    pub accept: Vec<MediaType>,
    pub content_type: MediaType,
    pub payload: Option<Payload>,
    /// Keys of the payload, or the `columns` parameter.
    pub columns: Vec<String>,
}

impl ApiRequest {
    /// Parses what the client sent; the order of checks is the contract's.
    ///
    /// # Errors
    /// PGRST1xx.
    pub fn parse(
        method: &str,
        path: &str,
        query: &str,
        headers: &HeaderMap,
        body: &Bytes,
        config: &RestConfig,
    ) -> Result<Self, RequestError> {
        let resource = Resource::of_path(path, config)?;
        let (schema, names_schema) = active_schema(method, headers, config)?;
        let action = resource.action(method, &schema)?;
        let query = QueryParams::parse(query, action.takes_arguments_from_query(), config)?;
        let range = root_range(method, &query, headers)?;
        let content_type =
            text(headers, header::CONTENT_TYPE).map_or(MediaType::Json, |text| MediaType::parse(&text));
        let mut request = Self {
            action,
            method: method.to_owned(),
            path: path.to_owned(),
            schema,
            names_schema,
            query,
            range,
            preferences: Preferences::parse(
                headers.get_all("prefer").map(lossy),
                config.transaction_end.allows_override(),
            ),
            accept: media::parse_accept(text(headers, header::ACCEPT).as_deref()),
            content_type,
            payload: None,
            columns: Vec::new(),
        };
        request.read_body(body)?;
        Ok(request)
    }

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

    /// Whether the response has no body because only its headers were asked for.
    pub fn is_headers_only(&self) -> bool {
        self.method == "HEAD"
    }
}

/// What a path names.
enum Resource {
    Root,
    Relation(String),
    Function(String),
}

impl Resource {
    fn of_path(path: &str, config: &RestConfig) -> Result<Self, RequestError> {
        let path = path.strip_prefix('/').unwrap_or(path);
        if path.is_empty() {
            return match (&config.root_spec, config.openapi_mode) {
                (_, OpenApiMode::Disabled) => Err(RequestError::RootDisabled),
                // it is called like any other function: in the active schema
                (Some(function), _) => Ok(Self::Function(
                    function
                        .rsplit_once('.')
                        .map_or(function.as_str(), |(_, name)| name)
                        .to_owned(),
                )),
                (None, _) => Ok(Self::Root),
            };
        }
        let mut segments = path.split('/').map(decode_segment);
        match (segments.next(), segments.next(), segments.next()) {
            (Some(relation), None, _) => Ok(Self::Relation(relation?)),
            (Some(rpc), Some(function), None) if rpc.as_deref() == Ok("rpc") => Ok(Self::Function(function?)),
            _ => Err(RequestError::Path),
        }
    }

    fn action(self, method: &str, schema: &str) -> Result<Action, RequestError> {
        let qualified = |name: String| QualifiedName::new(schema, name);
        Ok(match (self, method) {
            (Self::Function(name), "GET" | "HEAD") => Action::Call {
                function: qualified(name),
                invoke: Invoke::Read {
                    headers_only: method == "HEAD",
                },
            },
            (Self::Function(name), "POST") => Action::Call {
                function: qualified(name),
                invoke: Invoke::Post,
            },
            (Self::Function(name), "OPTIONS") => Action::DescribeFunction(qualified(name)),
            (Self::Function(_), _) => return Err(RequestError::CallMethod(method.to_owned())),
            (Self::Relation(name), "GET" | "HEAD") => Action::Read {
                relation: qualified(name),
                headers_only: method == "HEAD",
            },
            (Self::Relation(name), "POST") => mutate(qualified(name), Mutation::Create),
            (Self::Relation(name), "PUT") => mutate(qualified(name), Mutation::SingleUpsert),
            (Self::Relation(name), "PATCH") => mutate(qualified(name), Mutation::Update),
            (Self::Relation(name), "DELETE") => mutate(qualified(name), Mutation::Delete),
            (Self::Relation(name), "OPTIONS") => Action::DescribeRelation(qualified(name)),
            (Self::Root, "GET" | "HEAD") => Action::Root {
                headers_only: method == "HEAD",
            },
            (Self::Root, "OPTIONS") => Action::DescribeRoot,
            _ => return Err(RequestError::Method(method.to_owned())),
        })
    }
}

fn mutate(relation: QualifiedName, mutation: Mutation) -> Action {
    Action::Mutate { relation, mutation }
}

fn decode_segment(segment: &str) -> Result<String, RequestError> {
    percent_decode_str(segment)
        .decode_utf8()
        .map(|text| text.into_owned())
        .map_err(|_| RequestError::Path)
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<Cow<'_, str>> {
    headers.get(name).map(lossy)
}

/// A header's text. Bytes that are no text are not overlooked: what cannot be read is not what is served.
fn lossy(value: &header::HeaderValue) -> Cow<'_, str> {
    String::from_utf8_lossy(value.as_bytes())
}

fn active_schema(
    method: &str,
    headers: &HeaderMap,
    config: &RestConfig,
) -> Result<(String, bool), RequestError> {
    let name = match method {
        "POST" | "PATCH" | "PUT" | "DELETE" => "content-profile",
        _ => "accept-profile",
    };
    match headers.get(name) {
        None => Ok((config.default_schema().to_owned(), config.schemas.len() != 1)),
        Some(profile) => {
            let profile = String::from_utf8_lossy(profile.as_bytes()).into_owned();
            if config.schemas.contains(&profile) {
                Ok((profile, true))
            } else {
                Err(RequestError::Schema {
                    asked: profile,
                    exposed: config.schemas.join(", "),
                })
            }
        }
    }
}

fn root_range(method: &str, query: &QueryParams, headers: &HeaderMap) -> Result<RowRange, RequestError> {
    let parameters = query.root_range.0;
    let header = match headers.get(header::RANGE).and_then(|value| value.to_str().ok()) {
        Some(text) if method == "GET" => RowRange::of_header(text),
        _ => RowRange::ALL,
    };
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
