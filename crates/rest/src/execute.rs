//! Fourth stage: the statement in its transaction. The only stage with a connection.

use crate::catalog::Function;
use crate::config::RestConfig;
use crate::error::{DatabaseFault, RequestError, RestError};
use crate::identity::Identity;
use crate::plan::{Handler, MutatePlan, QueryKind, QueryPlan, Total};
use crate::request::media::{MediaType, PlanFormat};
use crate::request::preferences::{Resolution, Transaction};
use crate::request::{ApiRequest, Mutation};
use crate::settings::Settings;
use crate::sql::{self, BODY, EXTRA, HEADERS, PAGE, STATUS};
use bytes::{BufMut, BytesMut};
use selvedge_postgres::{
    Access, Answer, Chunks, End, JsonForm, Listed, Listing, RequestContext, RequestError as PoolError,
    RequestPool, RequestTransaction, Row, SqlStatement, column_bytes,
};
use serde_json::Value;

/// What the transaction gave.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub body: Chunks,
    /// Rows in the page, or rows written.
    pub page: i64,
    pub total: Option<i64>,
    /// Rows that an upsert really inserted.
    pub inserted: Option<i64>,
    /// Primary key of the one inserted row.
    pub location: Option<Vec<(String, Option<String>)>>,
    /// `response.headers`.
    pub headers: Option<String>,
    /// `response.status`.
    pub status: Option<String>,
}

/// Texts about the request that SQL can read.
#[derive(Debug)]
pub(crate) struct RequestTexts {
    pub headers: String,
    pub cookies: String,
}

/// One request on its way into the database: who asks, what for, and on which connections.
pub(crate) struct Execution<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) pool: &'a RequestPool,
    pub(crate) identity: &'a Identity,
    pub(crate) texts: &'a RequestTexts,
    pub(crate) request: &'a ApiRequest,
}

impl Execution<'_> {
    /// Runs a plan under the caller's rights: one round trip, or two where the rows decide about COMMIT.
    ///
    /// # Errors
    /// PostgreSQL's refusal, or PGRST115, 116 and 124 after a rollback.
    pub(crate) async fn run(&self, plan: &QueryPlan) -> Result<Outcome, RestError> {
        let checks = Checks::of(self.request, plan);
        let decides_end = checks.any() && !plan.read_only;
        if let (Some(rows), false) = (sql::rows_statement(plan), decides_end) {
            return self.list(plan, &rows, &checks).await;
        }
        let statement = sql::main_statement(plan);
        let explain = plan.explains_count().then(|| sql::count_explain(plan));
        let extra = self.extra_settings(plan.function());
        let transaction = RequestTransaction {
            explain: explain.as_ref(),
            ..self.transaction(plan, &statement, &extra)
        };
        let answer = if decides_end {
            self.pool
                .run_checked(transaction, |rows| checks.pass(rows_in(rows)).is_ok())
                .await
        } else {
            self.pool.run(transaction).await
        };
        self.answered(
            plan,
            &checks,
            answer.map_err(|error| failure(error, self.identity))?,
        )
    }

    /// Runs a plan whose answer is nothing but its rows: they come in columns, and become JSON on this side.
    async fn list(
        &self,
        plan: &QueryPlan,
        rows: &SqlStatement,
        checks: &Checks,
    ) -> Result<Outcome, RestError> {
        let extra = self.extra_settings(plan.function());
        let listing = Listing {
            form: match plan.handler {
                Handler::JsonObject { .. } => JsonForm::Object,
                _ => JsonForm::Array,
            },
            after: sql::after_rows(),
            otherwise: &|| sql::main_statement(plan),
        };
        let listed = self
            .pool
            .list(self.transaction(plan, rows, &extra), listing)
            .await;
        match listed.map_err(|error| failure(error, self.identity))? {
            Listed::Answer(answer) => self.answered(plan, checks, answer),
            Listed::Json { body, rows, after } => {
                let page = i64::try_from(rows).unwrap_or(i64::MAX);
                checks.pass(page)?;
                let after = after.first();
                Ok(Outcome {
                    body,
                    page,
                    total: (plan.total == Total::OfPage).then_some(page),
                    headers: after.and_then(|row| row.get(0)),
                    status: after.and_then(|row| row.get(1)),
                    ..Outcome::default()
                })
            }
        }
    }

    fn answered(&self, plan: &QueryPlan, checks: &Checks, answer: Answer) -> Result<Outcome, RestError> {
        if matches!(plan.media, MediaType::Plan { .. }) {
            return Ok(Outcome {
                body: explained(answer.rows, &plan.media),
                ..Outcome::default()
            });
        }
        checks.pass(rows_in(&answer.rows))?;
        outcome(plan, answer)
    }

    fn transaction<'b>(
        &'b self,
        plan: &QueryPlan,
        statement: &'b SqlStatement,
        extra: &'b [(&'b str, &'b str)],
    ) -> RequestTransaction<'b> {
        if self.settings.config.log_query {
            tracing::info!(sql = %statement.text, "query");
        }
        RequestTransaction {
            access: if plan.read_only {
                Access::ReadOnly
            } else {
                Access::ReadWrite
            },
            isolation: plan.function().and_then(|function| function.isolation),
            context: self.context(extra),
            pre_request: self.settings.pre_request.as_deref(),
            statement,
            explain: None,
            end: end_of(&self.settings.config, self.request),
        }
    }

    /// Runs a statement that only looks something up, under the caller's rights.
    ///
    /// # Errors
    /// PostgreSQL's refusal.
    pub(crate) async fn read(&self, statement: &SqlStatement) -> Result<Vec<Row>, RestError> {
        let extra = self.extra_settings(None);
        let transaction = RequestTransaction {
            access: Access::ReadOnly,
            isolation: None,
            context: self.context(&extra),
            pre_request: self.settings.pre_request.as_deref(),
            statement,
            explain: None,
            end: End::Commit,
        };
        let answer = self.pool.run(transaction).await;
        Ok(answer.map_err(|error| failure(error, self.identity))?.rows)
    }

    fn context<'b>(&'b self, extra: &'b [(&'b str, &'b str)]) -> RequestContext<'b> {
        RequestContext {
            search_path: self.settings.search_path(&self.request.schema),
            role: self.identity.role(),
            claims: self.identity.claims(),
            method: &self.request.method,
            path: &self.request.path,
            headers: &self.texts.headers,
            cookies: &self.texts.cookies,
            extra,
        }
    }

    /// Settings beyond those that every request has, in the contract's order.
    fn extra_settings<'b>(&'b self, function: Option<&'b Function>) -> Vec<(&'b str, &'b str)> {
        let zone = self
            .request
            .preferences
            .timezone
            .as_deref()
            .map(|zone| ("timezone", zone));
        let of_function = function
            .map(|function| function.settings.as_slice())
            .unwrap_or_default();
        let pairs = of_function.iter().chain(&self.settings.config.app_settings);
        zone.into_iter()
            .chain(pairs.map(|(name, value)| (name.as_str(), value.as_str())))
            .collect()
    }
}

fn end_of(config: &RestConfig, request: &ApiRequest) -> End {
    let rolls_back = match request.preferences.transaction {
        Some(Transaction::Rollback) => true,
        Some(Transaction::Commit) => false,
        None => config.transaction_end.rolls_back(),
    };
    if rolls_back { End::Rollback } else { End::Commit }
}

fn rows_in(rows: &[Row]) -> i64 {
    rows.first().and_then(|row| row.try_get(PAGE).ok()).unwrap_or(0)
}

/// What the number of rows must be.
struct Checks {
    put: bool,
    singular: bool,
    most: Option<i64>,
}

impl Checks {
    fn of(request: &ApiRequest, plan: &QueryPlan) -> Self {
        let put = matches!(
            &plan.kind,
            QueryKind::Mutate {
                mutation: Mutation::SingleUpsert,
                ..
            }
        );
        let limits = match &plan.kind {
            QueryKind::Mutate { mutation, .. } => matches!(mutation, Mutation::Update | Mutation::Delete),
            QueryKind::Call { .. } => true,
            QueryKind::Read(_) => false,
        };
        Self {
            put,
            singular: plan.is_singular() && !put,
            most: request.preferences.strict_max_affected().filter(|_| limits),
        }
    }

    fn any(&self) -> bool {
        self.put || self.singular || self.most.is_some()
    }

    fn pass(&self, rows: i64) -> Result<(), RequestError> {
        if self.put && rows != 1 {
            return Err(RequestError::PutPayload);
        }
        if self.singular && rows != 1 {
            return Err(RequestError::NotSingular(rows));
        }
        match self.most {
            Some(most) if rows > most => Err(RequestError::MaxAffected(rows)),
            _ => Ok(()),
        }
    }
}

fn outcome(plan: &QueryPlan, mut answer: Answer) -> Result<Outcome, RestError> {
    let Some(row) = answer.rows.pop() else {
        return Ok(Outcome::default());
    };
    let mut outcome = Outcome {
        page: row.get(PAGE),
        headers: row.get(HEADERS),
        status: row.get(STATUS),
        ..Outcome::default()
    };
    match (&plan.kind, plan.total) {
        (
            QueryKind::Mutate {
                plan: MutatePlan::Insert {
                    conflict, location, ..
                },
                ..
            },
            _,
        ) => {
            let mut next = EXTRA;
            if location.is_some() {
                outcome.location = row.get::<_, Option<Value>>(next).map(key_parts);
                next += 1;
            }
            if conflict
                .as_ref()
                .is_some_and(|c| c.resolution == Resolution::MergeDuplicates)
            {
                outcome.inserted = row.get(next);
            }
        }
        (_, Total::Counted) => outcome.total = row.get(EXTRA),
        (_, Total::OfPage) => outcome.total = Some(outcome.page),
        (_, Total::Planned) => outcome.total = planned_rows(&answer.explain),
        (_, Total::Estimated) => {
            let counted: i64 = row.get(EXTRA);
            let most = plan.max_rows.and_then(|most| i64::try_from(most).ok());
            outcome.total = Some(if most.is_none_or(|most| counted > most) {
                counted.max(planned_rows(&answer.explain).unwrap_or(0))
            } else {
                counted
            });
        }
        (_, Total::Unknown) => {}
    }
    if plan.handler != Handler::Nothing {
        outcome.body = column_bytes(row, BODY).map(Chunks::from).unwrap_or_default();
    }
    Ok(outcome)
}

/// `[["key", "value"], …]`.
fn key_parts(parts: Value) -> Vec<(String, Option<String>)> {
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

fn planned_rows(rows: &[Row]) -> Option<i64> {
    let document: Value = rows.first()?.try_get(0).ok()?;
    let rows = document.get(0)?.get("Plan")?.get("Plan Rows")?;
    rows.as_i64()
}

/// The lines of an EXPLAIN, each with its end.
fn explained(rows: Vec<Row>, media: &MediaType) -> Chunks {
    let is_json = matches!(
        media,
        MediaType::Plan {
            format: PlanFormat::Json,
            ..
        }
    );
    let mut out = BytesMut::new();
    for row in rows {
        if let Some(line) = column_bytes(row, 0) {
            out.put_slice(&line);
            if !is_json {
                out.put_u8(b'\n');
            }
        }
    }
    out.freeze().into()
}

/// A failed transaction in the service's own terms.
fn failure(error: PoolError, identity: &Identity) -> RestError {
    match error {
        PoolError::Database(error) => RestError::Database(DatabaseFault {
            sqlstate: error.code,
            message: error.message,
            detail: error.detail,
            hint: error.hint,
            authenticated: identity.is_authenticated(),
        }),
        PoolError::Unavailable(cause) => RestError::Unreachable(cause),
        PoolError::Lost(cause) => RestError::ConnectionLost(cause),
        PoolError::Timeout => RestError::PoolTimeout,
    }
}
