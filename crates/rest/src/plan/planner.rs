//! Entry point of the planning stage: [`Plan::new`], and the order of its steps for reads, writes and calls.

use std::sync::Arc;

use selvedge_memory::MemoryBudget;

use super::call::{argument_names, plan_call};
use super::citus::check_csv;
use super::draft::TreeParameters;
use super::mutate::MutationRequest;
use super::negotiate::{self, Handler};
use super::query_plan::{Plan, QueryKind, QueryPlan, ResponsePlan, RootPlan, SessionSettings, Total};
use super::read::plan_read_tree;
use super::repeated_names::make_names_unique;
use super::row_checks::RowChecks;
use super::tree::{ReadNode, Source};
use crate::catalog::{Catalog, Distribution, Function, Relation, Volatility};
use crate::config::RestConfig;
use crate::error::{DatabaseFault, RequestError, RestError};
use crate::identifier::QualifiedName;
use crate::request::media::MediaType;
use crate::request::preferences::{Count, Preferences, Representation, Transaction};
use crate::request::range::RowRange;
use crate::request::{Action, ApiRequest, Invoke, Mutation};

impl Plan {
    /// Plans a request; what the plan needs of it is moved, not copied. A CSV body becomes JSON, which `memory` counts.
    ///
    /// # Errors
    /// PGRST1xx and PGRST2xx; of several faults, the one that PostgREST reports. 503 when there is no memory left.
    pub fn new(
        request: ApiRequest,
        catalog: &Catalog,
        config: &RestConfig,
        memory: &MemoryBudget,
    ) -> Result<Self, RestError> {
        let planner = Planner {
            catalog,
            config,
            memory,
        };
        match &request.action {
            Action::Read { relation, .. } => {
                let relation = Arc::clone(catalog.relation(relation)?);
                planner.plan_read(request, relation)
            }
            Action::Mutate { relation, mutation } => {
                let (relation, mutation) = (Arc::clone(catalog.relation(relation)?), *mutation);
                planner.plan_mutation(request, relation, mutation)
            }
            Action::Call { function, invoke } => {
                let invoke = *invoke;
                let names = argument_names(&request, invoke);
                let is_post = invoke == Invoke::Post;
                let function = catalog.choose_function(function, &names, &request.content_type, is_post)?;
                planner.plan_call(request, &function, invoke)
            }
            Action::DescribeRelation(relation) => Ok(Self::Describe {
                allow: allowed_on_relation(catalog.relation(relation)?),
            }),
            Action::DescribeFunction(function) => {
                let found = catalog.choose_function(function, &[], &request.content_type, false)?;
                Ok(Self::Describe {
                    allow: allowed_on_function(&found).to_owned(),
                })
            }
            Action::DescribeRoot => Ok(Self::Describe {
                allow: "OPTIONS,GET,HEAD".to_owned(),
            }),
            Action::Root { headers_only } => {
                let headers_only = *headers_only;
                plan_root(request, headers_only)
            }
        }
    }
}

/// The root document, if one of its media types is accepted.
fn plan_root(request: ApiRequest, headers_only: bool) -> Result<Plan, RestError> {
    let served = [MediaType::OpenApi, MediaType::Json, MediaType::Any];
    if !request.accept.iter().any(|media| served.contains(media)) {
        return Err(negotiate::none_available(&request.accept).into());
    }
    Ok(Plan::Root(RootPlan {
        headers_only,
        names_schema: request.names_schema,
        session: session_settings(request).0,
    }))
}

/// `Allow` of a relation: what it can do by its kind, whatever the caller's role may do.
fn allowed_on_relation(relation: &Relation) -> String {
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

/// `Allow` of a function: GET runs read-only, so a volatile one is offered by POST alone.
fn allowed_on_function(function: &Function) -> &'static str {
    if function.volatility == Volatility::Volatile {
        "OPTIONS,POST"
    } else {
        "OPTIONS,GET,HEAD,POST"
    }
}

/// Splits off what SQL and the response need to know about the request.
fn session_settings(request: ApiRequest) -> (SessionSettings, ResponsePlan) {
    let mut preferences = request.preferences;
    let headers_only = request.method == "HEAD";
    let session = SessionSettings {
        schema: request.schema,
        method: request.method,
        path: request.path,
        timezone: preferences.timezone.take(),
    };
    let response = ResponsePlan {
        preferences,
        names_schema: request.names_schema,
        canonical_query: request.query.canonical,
        first_row: request.range.lower,
        headers_only,
    };
    (session, response)
}

/// The parts of a [`QueryPlan`] that reads, writes and calls decide differently.
struct Decisions {
    kind: QueryKind,
    read: ReadNode,
    handler: Handler,
    media: MediaType,
    read_only: bool,
    total: Total,
    row_checks: RowChecks,
}

/// Configuration and catalog for planning a request.
struct Planner<'a> {
    catalog: &'a Catalog,
    config: &'a RestConfig,
    memory: &'a MemoryBudget,
}

impl Planner<'_> {
    /// Plans a read. Faults are reported in this order: select tree, media type, preferences.
    fn plan_read(&self, mut request: ApiRequest, relation: Arc<Relation>) -> Result<Plan, RestError> {
        let parameters = TreeParameters::take_for_read(&mut request.query, request.range);
        let mut read = self.plan_tree(parameters, &relation.name, Source::Relation)?;
        let (mut handler, media) = self.negotiate(&request, &relation.name, &read)?;
        // Compat: reads report a media type that cannot be served (PGRST107) before unknown preferences (PGRST122).
        check_preferences(&request.preferences)?;
        if request.is_headers_only() {
            handler = Handler::Nothing;
        }
        make_names_unique(&mut read, &handler, self.catalog)?;
        let total = match self.choose_total(&request, false) {
            // With Citus this server's planner reports a constant instead of an estimate, so the rows are counted.
            Total::Estimated if relation.distribution != Distribution::Local => Total::Counted,
            Total::Planned if relation.distribution != Distribution::Local => {
                return Err(RestError::Database(DatabaseFault::without_estimate()));
            }
            total => total,
        };
        let decisions = Decisions {
            kind: QueryKind::Read(relation),
            read,
            handler,
            read_only: true,
            total,
            row_checks: RowChecks::of_read(media.is_singular()),
            media,
        };
        Ok(self.finish(request, decisions))
    }

    /// Plans a write. Faults are reported in this order: select tree, write, preferences, media type.
    fn plan_mutation(
        &self,
        mut request: ApiRequest,
        relation: Arc<Relation>,
        mutation: Mutation,
    ) -> Result<Plan, RestError> {
        // Taken before the filters move: a PUT is refused for any logic tree, those of embeds included.
        let has_logic = !request.query.logic.is_empty();
        let (parameters, filters) = TreeParameters::take_for_write(&mut request.query);
        let mut read = self.plan_tree(parameters, &relation.name, Source::Result)?;
        let plan = MutationRequest {
            catalog: self.catalog,
            request: &mut request,
            relation: &relation,
            filters,
            has_logic,
            read: &read,
            memory: self.memory,
        }
        .plan(mutation)?;
        // Compat: writes check preferences before the media type, reads the other way round.
        check_preferences(&request.preferences)?;
        check_page_of_write(&request, mutation)?;
        let (mut handler, media) = self.negotiate(&request, &relation.name, &read)?;
        // Nothing is rendered unless the client requests the rows; `select` is still checked against the catalog.
        if request.preferences.representation != Some(Representation::Full) {
            handler = Handler::Nothing;
        }
        make_names_unique(&mut read, &handler, self.catalog)?;
        check_csv(&handler, &read)?;
        let max_affected = request.preferences.strict_max_affected();
        let decisions = Decisions {
            kind: QueryKind::Mutate {
                relation,
                mutation,
                plan,
            },
            read,
            handler,
            read_only: false,
            total: Total::Unknown,
            row_checks: RowChecks::of_mutation(mutation, media.is_singular(), max_affected),
            media,
        };
        Ok(self.finish(request, decisions))
    }

    /// Plans a call. Faults are reported in this order: tree of the result, media type, preferences, arguments.
    fn plan_call(
        &self,
        mut request: ApiRequest,
        function: &Arc<Function>,
        invoke: Invoke,
    ) -> Result<Plan, RestError> {
        let result = function.result_name();
        let parameters = TreeParameters::take_for_read(&mut request.query, request.range);
        let mut read = self.plan_tree(parameters, &result, Source::Result)?;
        let (mut handler, media) = self.negotiate(&request, &result, &read)?;
        check_preferences(&request.preferences)?;
        let max_affected = request.preferences.strict_max_affected();
        // A function that returns a single value does not reveal how many rows it affected.
        if max_affected.is_some() && function.returns_single() {
            return Err(RequestError::MaxAffectedSingle.into());
        }
        if request.is_headers_only() {
            handler = Handler::Nothing;
        }
        // GET promises to change nothing, so even a volatile function runs read-only then; PostgreSQL refuses its writes.
        let read_only = invoke != Invoke::Post || function.volatility != Volatility::Volatile;
        let call = plan_call(&mut request, function, invoke, &mut read, self.memory)?;
        // Sort keys need the columns of the result that are left out of the response.
        make_names_unique(&mut read, &handler, self.catalog)?;
        let decisions = Decisions {
            kind: QueryKind::Call(call),
            handler,
            read_only,
            total: match self.choose_total(&request, !read.filters.is_empty()) {
                // The planner's estimate for a function is a constant, which would be misleading.
                Total::Planned => Total::Unknown,
                Total::Estimated => Total::Counted,
                total => total,
            },
            row_checks: RowChecks::of_call(media.is_singular(), max_affected),
            read,
            media,
        };
        Ok(self.finish(request, decisions))
    }

    /// Builds the plan from these decisions and the parts of the request that every plan keeps.
    fn finish(&self, request: ApiRequest, decisions: Decisions) -> Plan {
        let rolls_back = match request.preferences.transaction {
            Some(Transaction::Rollback) => true,
            Some(Transaction::Commit) => false,
            // `Prefer: tx=` was read only where `db-tx-end` allows it, so it needs no further check here.
            None => self.config.transaction_end.rolls_back(),
        };
        let (session, response) = session_settings(request);
        Plan::Query(Box::new(QueryPlan {
            kind: decisions.kind,
            read: decisions.read,
            handler: decisions.handler,
            media: decisions.media,
            read_only: decisions.read_only,
            rolls_back,
            total: decisions.total,
            max_rows: self.config.max_rows,
            row_checks: decisions.row_checks,
            session,
            response,
            for_citus: self.catalog.has_citus(),
        }))
    }

    /// The select tree over a relation or result.
    fn plan_tree(
        &self,
        parameters: TreeParameters,
        root: &QualifiedName,
        source: Source,
    ) -> Result<ReadNode, RestError> {
        plan_read_tree(self.catalog, self.config, parameters, root, source)
    }

    /// Renderer and media type of the response.
    fn negotiate(
        &self,
        request: &ApiRequest,
        identifier: &QualifiedName,
        read: &ReadNode,
    ) -> Result<(Handler, MediaType), RequestError> {
        negotiate::negotiate_media_type(
            &request.accept,
            self.catalog,
            identifier,
            read.has_default_select(),
            self.config.plan_enabled,
        )
    }

    /// Chooses how the total is found. `filters_result` says that filters apply to a call's result after the call, so that
    /// the page may have fewer rows than the function returned.
    fn choose_total(&self, request: &ApiRequest, filters_result: bool) -> Total {
        let is_limited = self.config.max_rows.is_some() || request.range != RowRange::ALL || filters_result;
        match request.preferences.count {
            None => Total::Unknown,
            Some(Count::Planned) => Total::Planned,
            Some(Count::Estimated) => Total::Estimated,
            Some(Count::Exact) if is_limited => Total::Counted,
            Some(Count::Exact) => Total::OfPage,
        }
    }
}

/// Checks that `handling=strict` comes without `limit` and `offset` of a write, which affects all rows of its filters. Compat: without
/// it they are ignored, as by PostgREST since version 13.
///
/// # Errors
/// PGRST122.
fn check_page_of_write(request: &ApiRequest, mutation: Mutation) -> Result<(), RequestError> {
    let has_page = request.query.root_range != RowRange::ALL;
    let is_of_filters = matches!(mutation, Mutation::Update | Mutation::Delete);
    if has_page && is_of_filters && request.preferences.is_strict() {
        return Err(RequestError::PageOfWrite);
    }
    Ok(())
}

/// Checks that `handling=strict` comes without unknown preferences.
///
/// # Errors
/// PGRST122.
fn check_preferences(preferences: &Preferences) -> Result<(), RequestError> {
    if preferences.is_strict() && !preferences.invalid.is_empty() {
        return Err(RequestError::Preferences(preferences.invalid.join(", ")));
    }
    Ok(())
}
