//! Second stage: what was asked + catalog → what will be done. Knows tables, and no HTTP beyond media types.

mod aggregate;
mod call;
mod embed;
mod mutate;
mod negotiate;
mod read;
mod resolve;

pub use call::{Argument, Arguments, CallPlan};
pub use mutate::{Conflict, JsonBody, MutatePlan, WriteColumn};
pub use negotiate::Handler;
pub use read::{
    ChildOutput, ColumnRef, Condition, Join, ReadNode, SelectColumn, SortKey, SortTarget, Source, Spread,
    SpreadField,
};

use crate::catalog::{Catalog, Function, Relation, Volatility};
use crate::config::RestConfig;
use crate::error::{RequestError, RestError};
use crate::identifier::QualifiedName;
use crate::request::media::MediaType;
use crate::request::preferences::{Count, Representation};
use crate::request::{Action, ApiRequest, Invoke, Mutation};
use std::sync::Arc;

/// What a request comes down to.
#[derive(Debug)]
pub enum Plan {
    /// One statement in one transaction.
    Query(Box<QueryPlan>),
    /// An answer from the catalog alone: the `Allow` header.
    Describe { allow: String },
    /// The root document of a schema.
    Root { headers_only: bool },
}

/// A read, write or call, with the shape of its answer.
#[derive(Debug)]
pub struct QueryPlan {
    pub kind: QueryKind,
    /// What the answer selects; over the result for writes and calls.
    pub read: ReadNode,
    pub handler: Handler,
    pub media: MediaType,
    pub read_only: bool,
    /// How a total is found, if one was asked for.
    pub total: Total,
    /// Limit of the configuration, for estimated counts.
    pub max_rows: Option<u64>,
}

/// What the statement does before it answers.
#[derive(Debug)]
pub enum QueryKind {
    Read(QualifiedName),
    Mutate {
        relation: Arc<Relation>,
        mutation: Mutation,
        plan: MutatePlan,
    },
    Call {
        plan: CallPlan,
        headers_only: bool,
    },
}

/// How the total number of rows is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    Unknown,
    /// No limit applies: the rows of the page are all there are.
    OfPage,
    /// A count of its own.
    Counted,
    /// The planner's estimate.
    Planned,
    /// Counted up to the row limit, the planner's estimate above.
    Estimated,
}

impl QueryPlan {
    /// Whether the planner's estimate of the count query is needed.
    pub fn explains_count(&self) -> bool {
        matches!(self.total, Total::Planned | Total::Estimated)
    }

    /// Whether exactly one row is demanded.
    pub fn is_singular(&self) -> bool {
        matches!(self.media, MediaType::Object { .. })
    }

    /// The function that is called.
    pub fn function(&self) -> Option<&Function> {
        match &self.kind {
            QueryKind::Call { plan, .. } => Some(&plan.function),
            _ => None,
        }
    }
}

impl Plan {
    /// Plans a request.
    ///
    /// # Errors
    /// PGRST1xx and PGRST2xx, in the contract's order.
    pub fn new(request: &ApiRequest, catalog: &Catalog, config: &RestConfig) -> Result<Self, RestError> {
        let planner = Planner {
            request,
            catalog,
            config,
        };
        match &request.action {
            Action::Read {
                relation,
                headers_only,
            } => planner.read(relation, *headers_only),
            Action::Mutate { relation, mutation } => planner.mutate(relation, *mutation),
            Action::Call { function, invoke } => planner.call(function, *invoke),
            Action::DescribeRelation(relation) => Ok(Self::Describe {
                allow: allow(catalog.relation(relation)?),
            }),
            Action::DescribeFunction(function) => {
                let found = catalog.choose_function(function, &[], &request.content_type, false)?;
                let volatile = found.volatility == Volatility::Volatile;
                let allow = if volatile {
                    "OPTIONS,POST"
                } else {
                    "OPTIONS,GET,HEAD,POST"
                };
                Ok(Self::Describe {
                    allow: allow.to_owned(),
                })
            }
            Action::DescribeRoot => Ok(Self::Describe {
                allow: "OPTIONS,GET,HEAD".to_owned(),
            }),
            Action::Root { headers_only } => {
                let served = [MediaType::OpenApi, MediaType::Json, MediaType::Any];
                if !request.accept.iter().any(|media| served.contains(media)) {
                    return Err(negotiate::none_available(&request.accept).into());
                }
                Ok(Self::Root {
                    headers_only: *headers_only,
                })
            }
        }
    }
}

/// What can be done with a relation, whatever the role may do.
fn allow(relation: &Relation) -> String {
    let mut allow = String::from("OPTIONS,GET,HEAD");
    for (possible, method) in [
        (relation.insertable, ",POST"),
        (
            relation.insertable && relation.updatable && !relation.primary_key.is_empty(),
            ",PUT",
        ),
        (relation.updatable, ",PATCH"),
        (relation.deletable, ",DELETE"),
    ] {
        if possible {
            allow.push_str(method);
        }
    }
    allow
}

struct Planner<'a> {
    request: &'a ApiRequest,
    catalog: &'a Catalog,
    config: &'a RestConfig,
}

impl Planner<'_> {
    fn read(&self, relation: &QualifiedName, headers_only: bool) -> Result<Plan, RestError> {
        let relation = self.catalog.relation(relation)?;
        let read = read::plan(self, &relation.name, Source::Relation)?;
        let (mut handler, media) = self.negotiate(&relation.name, &read)?;
        self.check_preferences()?;
        if headers_only {
            handler = Handler::Nothing;
        }
        let total = self.total(&read, true);
        Ok(Plan::Query(Box::new(QueryPlan {
            kind: QueryKind::Read(relation.name.clone()),
            read,
            handler,
            media,
            read_only: true,
            total,
            max_rows: self.config.max_rows,
        })))
    }

    fn mutate(&self, relation: &QualifiedName, mutation: Mutation) -> Result<Plan, RestError> {
        let relation = Arc::clone(self.catalog.relation(relation)?);
        let read = read::plan(self, &relation.name, Source::Result)?;
        let plan = mutate::plan(self, &relation, mutation, &read)?;
        self.check_preferences()?;
        let (mut handler, media) = self.negotiate(&relation.name, &read)?;
        if self.request.preferences.representation != Some(Representation::Full) {
            handler = Handler::Nothing;
        }
        Ok(Plan::Query(Box::new(QueryPlan {
            kind: QueryKind::Mutate {
                relation,
                mutation,
                plan,
            },
            read,
            handler,
            media,
            read_only: false,
            total: Total::Unknown,
            max_rows: None,
        })))
    }

    fn call(&self, name: &QualifiedName, invoke: Invoke) -> Result<Plan, RestError> {
        let keys: Vec<String> = match invoke {
            Invoke::Read { .. } => self
                .request
                .query
                .arguments
                .iter()
                .map(|(key, _)| key.clone())
                .collect(),
            Invoke::Post => self.request.columns.clone(),
        };
        let is_post = invoke == Invoke::Post;
        let function = self
            .catalog
            .choose_function(name, &keys, &self.request.content_type, is_post)?;
        let result = function.result_name();
        let read = read::plan(self, &result, Source::Result)?;
        let (mut handler, media) = self.negotiate(&result, &read)?;
        self.check_preferences()?;
        if self.request.preferences.strict_max_affected().is_some() && function.returns_single() {
            return Err(RequestError::MaxAffectedSingle.into());
        }
        let headers_only = invoke == Invoke::Read { headers_only: true };
        if headers_only {
            handler = Handler::Nothing;
        }
        let read_only = !is_post || function.volatility != Volatility::Volatile;
        let plan = call::plan(self, &function, &keys, invoke, &read);
        let total = match self.total(&read, false) {
            Total::Planned => Total::Unknown,
            Total::Estimated => Total::Counted,
            total => total,
        };
        Ok(Plan::Query(Box::new(QueryPlan {
            kind: QueryKind::Call { plan, headers_only },
            read,
            handler,
            media,
            read_only,
            total,
            max_rows: self.config.max_rows,
        })))
    }

    fn negotiate(
        &self,
        identifier: &QualifiedName,
        read: &ReadNode,
    ) -> Result<(Handler, MediaType), RequestError> {
        negotiate::negotiate(
            &self.request.accept,
            self.catalog,
            identifier,
            read.has_default_select(),
            self.config.plan_enabled,
        )
    }

    fn check_preferences(&self) -> Result<(), RequestError> {
        let preferences = &self.request.preferences;
        if preferences.is_strict() && !preferences.invalid.is_empty() {
            return Err(RequestError::Preferences(preferences.invalid.join(", ")));
        }
        Ok(())
    }

    fn total(&self, read: &ReadNode, is_read: bool) -> Total {
        let limited = self.config.max_rows.is_some()
            || self.request.range != crate::request::range::RowRange::ALL
            || !is_read && !read.filters.is_empty();
        match self.request.preferences.count {
            None => Total::Unknown,
            Some(Count::Planned) => Total::Planned,
            Some(Count::Estimated) => Total::Estimated,
            Some(Count::Exact) if limited => Total::Counted,
            Some(Count::Exact) => Total::OfPage,
        }
    }
}
