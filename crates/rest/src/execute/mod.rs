//! Fourth stage: statements → [`Outcome`], in the request's transaction. The only stage with a connection.

mod document_memory;
mod replica_reads;

use bytes::{BufMut, BytesMut};
use selvedge_limits::ClientId;
use selvedge_memory::DatabaseTurn;
use selvedge_postgres::{
    AccessMode, ByteChunks, JsonDocument, JsonForm, JsonRead, JsonReadResult, RequestContext,
    RequestError as PoolError, RequestPool, RequestTransaction, Row, SqlStatement, TransactionEnd,
    TransactionResult, set_traced_rows,
};
use serde_json::Value;

use crate::catalog::{Catalog, Function};
use crate::config::EffectiveConfig;
use crate::error::{DatabaseFault, RestError};
use crate::identity::Identity;
use crate::plan::{Handler, MutatePlan, QueryKind, QueryPlan, SessionSettings, Total};
use crate::request::media::{MediaType, PlanFormat};
use crate::request::preferences::Resolution;
use crate::sql::{
    BODY_COLUMN, EXTRA_COLUMN, HEADERS_COLUMN, ROW_COUNT_COLUMN, RowsStatement, STATUS_COLUMN, Statements,
    may_run_twice, response_settings,
};

pub(crate) use document_memory::{ResultMemory, ResultSizes};
pub(crate) use replica_reads::{ReplicaReads, is_read_method, record_write};

/// The result of the transaction.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) body: ByteChunks,
    /// Rows in the page, or rows written.
    pub(crate) page_rows: i64,
    /// Total for `Content-Range`, if it is known.
    pub(crate) total: Option<i64>,
    /// Rows that an upsert inserted, as opposed to those that it updated.
    pub(crate) inserted: Option<i64>,
    /// Primary key of the one inserted row, for `Location`: column and value.
    pub(crate) location: Option<Vec<(String, Option<String>)>>,
    /// The setting `response.headers`, by which SQL adds headers to the response.
    pub(crate) headers: Option<String>,
    /// The setting `response.status`, by which SQL chooses the status.
    pub(crate) status: Option<String>,
}

/// Headers and cookies as the JSON texts that SQL reads from `request.headers` and `request.cookies`.
#[derive(Debug)]
pub(crate) struct RequestTexts {
    pub(crate) headers: String,
    pub(crate) cookies: String,
}

/// Runs the statements of one request: with the caller's identity, on the worker's connections.
pub(crate) struct Execution<'a> {
    pub(crate) config: &'a EffectiveConfig,
    /// The catalog by which the request was planned.
    pub(crate) catalog: &'a Catalog,
    /// `search_path` for the request's schema, quoted.
    pub(crate) search_path: &'a str,
    pub(crate) pool: &'a RequestPool,
    /// Where the request may be answered by a replica.
    pub(crate) replicas: Option<&'a ReplicaReads<'a>>,
    pub(crate) identity: &'a Identity,
    /// Who has sent the request, and shares the connections with other clients.
    pub(crate) client: ClientId,
    pub(crate) texts: &'a RequestTexts,
    /// What PostgreSQL may take for the request's large body.
    pub(crate) turn: Option<&'a DatabaseTurn>,
    /// Where results take memory that PostgreSQL writes in one piece; `None` where that is not limited, and beside a large body.
    pub(crate) result_memory: Option<ResultMemory<'a>>,
}

impl Execution<'_> {
    /// Runs a plan's statements under the caller's rights: one round trip, or two where the number of rows decides
    /// between COMMIT and ROLLBACK.
    ///
    /// # Errors
    /// PostgreSQL's own error; PGRST115, 116 and 124 after a rollback; PGRST000, 001 and 003 for the connection.
    pub(crate) async fn run(
        &self,
        plan: &QueryPlan,
        statements: Statements<'_>,
    ) -> Result<Outcome, RestError> {
        match statements {
            Statements::Rows(statement) => self.run_rows(plan, &statement).await,
            Statements::Document {
                document,
                explain_count,
            } => self.run_document(plan, &document, explain_count.as_ref()).await,
        }
    }

    /// Runs a statement whose rows come one by one, and become a document on this side.
    async fn run_rows(&self, plan: &QueryPlan, statement: &RowsStatement<'_>) -> Result<Outcome, RestError> {
        let measured = self
            .result_memory
            .as_ref()
            .filter(|_| plan.has_lists_in_lists())
            .map(|memory| (memory, memory.key_of(&statement.rows)));
        let turn = match measured {
            // Boxed, because few requests need it.
            Some((memory, key)) => Box::pin(memory.wait_for_rows(key)).await?,
            None => None,
        };
        let result = self.read_rows(plan, statement, turn.as_ref()).await;
        if let Some((memory, key)) = measured {
            memory.record_rows(key, &result);
        }
        let JsonReadResult {
            body,
            rows,
            total,
            after,
            ..
        } = result?;
        // Nothing is rolled back for its number of rows, so they are checked after the transaction, without a second round trip.
        let page_rows = i64::try_from(rows).unwrap_or(i64::MAX);
        set_traced_rows(rows);
        plan.row_checks.check(page_rows)?;
        let settings = after.first();
        Ok(Outcome {
            body,
            page_rows,
            total: match plan.total {
                Total::OfPage => Some(page_rows),
                _ => total,
            },
            headers: settings.and_then(|row| row.get(0)),
            status: settings.and_then(|row| row.get(1)),
            ..Outcome::default()
        })
    }

    /// Reads the rows from a replica that may answer, or from the primary. `turn` is what PostgreSQL may take for them.
    async fn read_rows(
        &self,
        plan: &QueryPlan,
        statement: &RowsStatement<'_>,
        turn: Option<&DatabaseTurn>,
    ) -> Result<JsonReadResult, RestError> {
        let extra = self.extra_settings(&plan.session, plan.function());
        let read = JsonRead {
            document: JsonDocument {
                form: json_form(&plan.handler),
                has_total: statement.has_total,
            },
            only_texts: statement.are_texts,
            after: response_settings(),
            fallback: &|| statement.texts(),
            may_run_twice: &|| may_run_twice(plan, self.catalog),
        };
        let transaction = RequestTransaction {
            turn: turn.or(self.turn),
            ..self.transaction(plan, &statement.rows, &extra)
        };
        let of_replica = match self.replicas {
            Some(replicas) => replicas.read_json(plan, &transaction, &read).await,
            None => None,
        };
        let result = match of_replica {
            Some(result) => result,
            None => self.pool.read_json(&transaction, &read).await,
        };
        result.map_err(|error| self.map_pool_error(error))
    }

    /// Runs a statement whose one row holds the whole response.
    async fn run_document(
        &self,
        plan: &QueryPlan,
        document: &SqlStatement,
        explain_count: Option<&SqlStatement>,
    ) -> Result<Outcome, RestError> {
        let extra = self.extra_settings(&plan.session, plan.function());
        let measured = self
            .result_memory
            .as_ref()
            .filter(|_| !plan.has_small_result())
            .map(|memory| (memory, memory.key_of(document)));
        let turn = match measured {
            // Boxed, because few requests need it.
            Some((memory, key)) => Box::pin(memory.wait_for(key, plan)).await?,
            None => None,
        };
        // The EXPLAIN runs in the same transaction, so the estimate is made under the caller's rights as well.
        let transaction = RequestTransaction {
            explain: explain_count,
            turn: turn.as_ref().or(self.turn),
            ..self.transaction(plan, document, &extra)
        };
        let of_replica = match self.replicas {
            Some(replicas) => replicas.run(plan, transaction).await,
            None => None,
        };
        let result = if let Some(result) = of_replica {
            result
        } else if plan.rows_decide_commit() {
            // The check runs twice: here it decides about COMMIT, in `read_document` it becomes the error.
            let commits = |rows: &[Row]| plan.row_checks.check(row_count(rows)).is_ok();
            self.pool.run_checked(transaction, commits).await
        } else {
            self.pool.run(transaction).await
        };
        let result = result.map_err(|error| self.map_pool_error(error));
        if let Some((memory, key)) = measured {
            memory.record(key, &result);
        }
        read_document(plan, result?)
    }

    /// Runs a statement that only looks something up, under the caller's rights.
    ///
    /// # Errors
    /// PostgreSQL's own error; PGRST000, 001 and 003 for the connection.
    pub(crate) async fn read(
        &self,
        session: &SessionSettings,
        statement: &SqlStatement,
    ) -> Result<Vec<Row>, RestError> {
        let extra = self.extra_settings(session, None);
        let transaction = RequestTransaction {
            // The lookup runs under the caller's role too: what the root document lists depends on privileges.
            access: AccessMode::ReadOnly,
            isolation: None,
            context: self.context(session, &extra),
            pre_request: self.config.pre_request.as_deref(),
            statement,
            calls_function: false,
            replayed_to: None,
            client: Some(&self.client),
            turn: None,
            explain: None,
            end: TransactionEnd::Commit,
        };
        let result = self.pool.run(transaction).await;
        Ok(result.map_err(|error| self.map_pool_error(error))?.rows)
    }

    /// The transaction of a plan, which runs `statement`.
    fn transaction<'b>(
        &'b self,
        plan: &'b QueryPlan,
        statement: &'b SqlStatement,
        extra: &'b [(&'b str, &'b str)],
    ) -> RequestTransaction<'b> {
        if self.config.log_query {
            // The text holds no values: they are parameters.
            tracing::info!(sql = %statement.text, "query");
        }
        RequestTransaction {
            // Functions that only read go on.
            access: if plan.read_only || self.pool.is_disk_full() {
                AccessMode::ReadOnly
            } else {
                AccessMode::ReadWrite
            },
            // A function may ask for an isolation level by its SET clause; it has to be known when the transaction begins.
            isolation: plan.function().and_then(|function| function.isolation),
            context: self.context(&plan.session, extra),
            pre_request: self.config.pre_request.as_deref(),
            statement,
            calls_function: plan.function().is_some(),
            replayed_to: None,
            client: Some(&self.client),
            turn: self.turn,
            explain: None,
            end: if plan.rolls_back || plan.counts_unseen_rows() {
                TransactionEnd::Rollback
            } else {
                TransactionEnd::Commit
            },
        }
    }

    /// The settings by which SQL reads the request and its caller.
    fn context<'b>(
        &'b self,
        session: &'b SessionSettings,
        extra: &'b [(&'b str, &'b str)],
    ) -> RequestContext<'b> {
        RequestContext {
            search_path: self.search_path,
            role: self.identity.role(),
            claims: self.identity.claims(),
            method: &session.method,
            path: &session.path,
            headers: &self.texts.headers,
            cookies: &self.texts.cookies,
            extra,
        }
    }

    /// Settings beyond those that every request has: time zone, the function's hoisted settings, `app.settings.*`. Later
    /// ones win over earlier ones of the same name, in this order (REST contract §5.1).
    fn extra_settings<'b>(
        &'b self,
        session: &'b SessionSettings,
        function: Option<&'b Function>,
    ) -> Vec<(&'b str, &'b str)> {
        let timezone = session.timezone.as_deref().map(|zone| ("timezone", zone));
        let hoisted = function
            .map(|function| function.settings.as_slice())
            .unwrap_or_default();
        let pairs = hoisted.iter().chain(&self.config.app_settings);
        timezone
            .into_iter()
            .chain(pairs.map(|(name, value)| (name.as_str(), value.as_str())))
            .collect()
    }

    /// A failed transaction as an error of this service.
    fn map_pool_error(&self, error: PoolError) -> RestError {
        match error {
            // PostgreSQL sends the same code for a statement that was given up for lack of memory and for one that somebody has cancelled.
            PoolError::Database(error)
                if error.code == QUERY_CANCELED
                    && error.message.ends_with(BY_REQUEST)
                    && self.pool.memory().was_relieved() =>
            {
                RestError::OutOfMemory { is_committed: false }
            }
            PoolError::Database(error) if error.code == READ_ONLY && self.pool.is_disk_full() => {
                RestError::DiskFull
            }
            PoolError::Database(error) => RestError::Database(DatabaseFault {
                sqlstate: error.code,
                message: error.message,
                detail: error.detail,
                hint: error.hint,
                authenticated: self.identity.is_authenticated(),
            }),
            PoolError::Unavailable(cause) => RestError::Unreachable(cause),
            PoolError::Lost(cause) => RestError::ConnectionLost(cause),
            PoolError::Timeout => RestError::PoolTimeout,
            PoolError::OutOfMemory { is_committed } => RestError::OutOfMemory { is_committed },
        }
    }
}

/// The error of a statement that was cancelled, and the end of its message where no time limit was the reason.
const QUERY_CANCELED: &str = "57014";
const BY_REQUEST: &str = "due to user request";
/// The error of a write in a transaction that only reads.
const READ_ONLY: &str = "25006";

/// How the rows of a response are joined.
fn json_form(handler: &Handler) -> JsonForm {
    match handler {
        // A single object is rendered without brackets; that there is exactly one row is checked afterwards.
        Handler::JsonObject { .. } => JsonForm::Object,
        Handler::Json { stripped: true } => JsonForm::CompactArray,
        Handler::Csv => JsonForm::Lines,
        _ => JsonForm::Array,
    }
}

/// The number of rows that a document's one row states.
fn row_count(rows: &[Row]) -> i64 {
    rows.first()
        .and_then(|row| row.try_get(ROW_COUNT_COLUMN).ok())
        .unwrap_or(0)
}

/// The outcome of a document statement, or of its `EXPLAIN`.
fn read_document(plan: &QueryPlan, mut result: TransactionResult) -> Result<Outcome, RestError> {
    if let MediaType::Plan { format, .. } = &plan.media {
        return Ok(Outcome {
            body: join_plan_lines(result.rows, *format),
            ..Outcome::default()
        });
    }
    plan.row_checks.check(row_count(&result.rows))?;
    let Some(row) = result.rows.pop() else {
        return Ok(Outcome::default());
    };
    let page_rows: i64 = row.get(ROW_COUNT_COLUMN);
    if let Ok(rows) = u64::try_from(page_rows) {
        set_traced_rows(rows);
    }
    let mut outcome = Outcome {
        page_rows,
        headers: row.get(HEADERS_COLUMN),
        status: row.get(STATUS_COLUMN),
        ..Outcome::default()
    };
    match &plan.kind {
        QueryKind::Mutate { plan, .. } => read_insert_columns(plan, &row, &mut outcome),
        QueryKind::Read(_) | QueryKind::Call(_) => {
            outcome.total = find_total(plan, &row, &result.explain, outcome.page_rows)?;
        }
    }
    if plan.handler != Handler::Nothing {
        outcome.body = row.bytes(BODY_COLUMN).map(ByteChunks::from).unwrap_or_default();
    }
    Ok(outcome)
}

/// Reads the extra columns of an INSERT, which exist only if the plan requests them.
fn read_insert_columns(plan: &MutatePlan, row: &Row, outcome: &mut Outcome) {
    let MutatePlan::Insert {
        conflict, location, ..
    } = plan
    else {
        return;
    };
    let mut next = EXTRA_COLUMN;
    if location.is_some() {
        // The column is null unless exactly one row was inserted.
        outcome.location = row.get::<_, Option<Value>>(next).map(parse_key_pairs);
        next += 1;
    }
    let is_counted = conflict
        .as_ref()
        .is_some_and(|conflict| conflict.resolution == Resolution::MergeDuplicates);
    if is_counted {
        outcome.inserted = row.get(next);
    }
}

/// Returns the total number of rows of a read or call, by `Prefer: count`.
///
/// # Errors
/// 0A000 for an estimate of a query that Citus runs.
fn find_total(
    plan: &QueryPlan,
    row: &Row,
    explain: &[Row],
    page_rows: i64,
) -> Result<Option<i64>, RestError> {
    Ok(match plan.total {
        Total::Unknown => None,
        Total::OfPage => Some(page_rows),
        Total::Counted => row.get(EXTRA_COLUMN),
        Total::Planned => planned_rows(explain)?,
        Total::Estimated => {
            let counted: i64 = row.get(EXTRA_COLUMN);
            let max_rows = plan.max_rows.and_then(|rows| i64::try_from(rows).ok());
            // The count stopped above the limit, so the planner's estimate is used, unless it is lower than the
            // number of counted rows.
            let stopped = max_rows.is_none_or(|max_rows| counted > max_rows);
            let planned = if stopped { planned_rows(explain)? } else { None };
            Some(counted.max(planned.unwrap_or(0)))
        }
    })
}

/// The pairs of `[["key", "value"], …]`.
fn parse_key_pairs(parts: Value) -> Vec<(String, Option<String>)> {
    let Value::Array(parts) = parts else {
        return Vec::new();
    };
    parts
        .iter()
        .filter_map(|part| {
            let name = part.get(0)?.as_str()?.to_owned();
            Some((name, part.get(1).and_then(Value::as_str).map(str::to_owned)))
        })
        .collect()
}

/// Reads the planner's estimate from `EXPLAIN (FORMAT JSON)`.
///
/// # Errors
/// 0A000 when Citus runs the query, because its plans contain a constant instead of an estimate.
fn planned_rows(rows: &[Row]) -> Result<Option<i64>, RestError> {
    let document: Option<Value> = rows.first().and_then(|row| row.try_get(0).ok());
    let Some(plan) = document
        .as_ref()
        .and_then(|document| document.get(0)?.get("Plan"))
    else {
        return Ok(None);
    };
    if is_run_by_citus(plan) {
        return Err(RestError::Database(DatabaseFault::without_estimate()));
    }
    // The top node's estimate is that of the whole query.
    Ok(plan.get("Plan Rows").and_then(Value::as_i64))
}

/// Whether the plan contains a Citus node, which sends queries to other servers.
fn is_run_by_citus(plan: &Value) -> bool {
    let provider = plan.get("Custom Plan Provider").and_then(Value::as_str);
    provider.is_some_and(|name| name.starts_with("Citus "))
        || plan
            .get("Plans")
            .and_then(Value::as_array)
            .is_some_and(|plans| plans.iter().any(is_run_by_citus))
}

/// The rows of an `EXPLAIN`: lines of text, or one JSON document.
fn join_plan_lines(rows: Vec<Row>, format: PlanFormat) -> ByteChunks {
    let mut out = BytesMut::new();
    for row in rows {
        if let Some(line) = row.bytes(0) {
            out.put_slice(&line);
            if format == PlanFormat::Text {
                out.put_u8(b'\n');
            }
        }
    }
    out.freeze().into()
}
