//! The action of a path and method: the relation or function, and the operation.

use percent_encoding::percent_decode_str;

use crate::config::{OpenApiMode, RestConfig};
use crate::error::RequestError;
use crate::identifier::QualifiedName;

/// A write to a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// POST: insert rows.
    Create,
    /// PATCH: change the rows that the filters choose.
    Update,
    /// PUT: insert or replace the one row that the filters name.
    SingleUpsert,
    /// DELETE: delete the rows that the filters choose.
    Delete,
}

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invoke {
    /// GET or HEAD: arguments in the query string, read-only.
    Read { headers_only: bool },
    /// POST: arguments in the body.
    Post,
}

/// The action of a request, and its object.
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
    /// OPTIONS on a relation.
    DescribeRelation(QualifiedName),
    /// OPTIONS on a function.
    DescribeFunction(QualifiedName),
    /// OPTIONS on `/`.
    DescribeRoot,
    /// The OpenAPI document.
    Root {
        headers_only: bool,
    },
}

impl Action {
    /// Whether a function is called.
    pub(super) fn is_call(&self) -> bool {
        matches!(self, Self::Call { .. })
    }

    /// Whether parameters of the query string may be arguments of a function.
    pub(super) fn takes_arguments_from_query(&self) -> bool {
        matches!(
            self,
            Self::Call {
                invoke: Invoke::Read { .. },
                ..
            }
        )
    }
}

/// The resource that a path names.
pub(super) enum Resource {
    Root,
    Relation(String),
    Function(String),
}

impl Resource {
    /// The resource of a path below the service's prefix.
    ///
    /// # Errors
    /// PGRST125 for a path of other forms than `/relation` and `/rpc/function`, PGRST126 for `/` where it is disabled.
    pub(super) fn from_path(path: &str, config: &RestConfig) -> Result<Self, RequestError> {
        let path = path.strip_prefix('/').unwrap_or(path);
        if path.is_empty() {
            return match (&config.root_spec, config.openapi_mode) {
                (_, OpenApiMode::Disabled) => Err(RequestError::RootDisabled),
                // Compat: `db-root-spec` is called like any other function, in the active schema.
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

    /// Returns the action of a method on the resource.
    ///
    /// # Errors
    /// PGRST101 and PGRST117 for methods that do not apply.
    pub(super) fn into_action(self, method: &str, schema: &str) -> Result<Action, RequestError> {
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
            (Self::Relation(name), "POST") => mutation_action(qualified(name), Mutation::Create),
            (Self::Relation(name), "PUT") => mutation_action(qualified(name), Mutation::SingleUpsert),
            (Self::Relation(name), "PATCH") => mutation_action(qualified(name), Mutation::Update),
            (Self::Relation(name), "DELETE") => mutation_action(qualified(name), Mutation::Delete),
            (Self::Relation(name), "OPTIONS") => Action::DescribeRelation(qualified(name)),
            (Self::Root, "GET" | "HEAD") => Action::Root {
                headers_only: method == "HEAD",
            },
            (Self::Root, "OPTIONS") => Action::DescribeRoot,
            _ => return Err(RequestError::Method(method.to_owned())),
        })
    }
}

/// A write to a relation.
fn mutation_action(relation: QualifiedName, mutation: Mutation) -> Action {
    Action::Mutate { relation, mutation }
}

/// Percent-decodes a segment of the path.
fn decode_segment(segment: &str) -> Result<String, RequestError> {
    percent_decode_str(segment)
        .decode_utf8()
        .map(|text| text.into_owned())
        .map_err(|_| RequestError::Path)
}
