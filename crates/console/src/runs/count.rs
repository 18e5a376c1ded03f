//! `POST /api/sql/count`: the rows and dependent objects that a destructive statement would touch (CONSOLE-094).
//!
//! The browser half reads the statement and names its objects, because the question is a courtesy and no fence. They are
//! looked up in a session like that of the run, so that role and search path lead to the same objects.

use std::time::Duration;

use actix_web::{HttpResponse, web};
use selvedge_introspection::{CatalogReader, Dependant, ObjectKind};
use selvedge_postgres::{TextNotice, TextSession, TextSessionError, quote_literal};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::request::check_subject;
use super::session::{Frame, open, read_first_row};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;
use crate::subject::Subject;

/// The objects of one question; a person reads no longer list.
const MAX_OBJECTS: usize = 50;
/// The dependent objects that are named of one object.
const MAX_DEPENDANTS: usize = 200;
/// The bytes of the longest value that is read: a qualified name with quotes.
const MAX_CELL_BYTES: usize = 1024;
/// How long counting may take; then PostgreSQL's estimate is shown, because the confirmation dialog waits for it.
const COUNT_TIME_LIMIT: Duration = Duration::from_secs(3);
/// The SQLSTATE of a statement that ran out of time.
const QUERY_CANCELED: &str = "57014";

/// The body of `POST /api/sql/count`.
#[derive(Deserialize)]
pub(super) struct CountRequest {
    objects: Vec<NamedObject>,
    #[serde(default)]
    subject: Subject,
}

/// An object as the statement names it.
#[derive(Deserialize)]
struct NamedObject {
    kind: CountedKind,
    /// The name in SQL, quoted where PostgreSQL needs it, and qualified where the statement qualifies it.
    name: String,
}

/// The kinds of objects that destructive statements name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CountedKind {
    /// A relation whose rows the statement deletes or changes, and are therefore counted.
    Table,
    /// A dropped relation without rows of its own, such as a view, an index or a sequence.
    Relation,
    Type,
    Function,
    Schema,
}

/// The effects of a statement on one object.
#[derive(Serialize)]
struct ObjectCount {
    name: String,
    /// The number of rows, or null where none were counted.
    rows: Option<i64>,
    /// Whether `rows` was counted; otherwise it is PostgreSQL's estimate.
    exact: bool,
    /// The reason why nothing could be counted.
    fault: Option<String>,
    dependants: Vec<Dependant>,
}

/// An object that was found in the catalog.
struct FoundObject {
    oid: String,
    /// The qualified name with quotes.
    qualified: String,
    /// `None` also where PostgreSQL's estimate is zero, which may be wrong: the table may have been filled since, or Citus stores
    /// its rows in shards.
    estimated_rows: Option<i64>,
}

/// `POST /api/sql/count` → `{objects: [{name, rows, exact, fault, dependants}]}`
pub(super) async fn count_objects(
    state: web::Data<ConsoleState>,
    session: Session,
    request: web::Json<CountRequest>,
) -> Result<HttpResponse, ConsoleError> {
    check_subject(&request.subject, &session)?;
    if request.objects.len() > MAX_OBJECTS {
        return Err(ConsoleError::invalid(format!(
            "At most {MAX_OBJECTS} objects are counted"
        )));
    }
    let _permit = state.permit_statement(&session)?;
    let lost = |error: TextSessionError| ConsoleError::unavailable(error.to_string());
    let database = state.database.shared();
    let limit = state.config.statement_timeout.min(COUNT_TIME_LIMIT);
    let (mut text_session, _canceller) =
        open(database, session.level, &request.subject, Frame::ReadOnly, limit)
            .await
            .map_err(lost)?;
    let mut catalog_client = state.database.connection(session.level).await?;
    let reader = CatalogReader::begin(&mut catalog_client).await?;
    let mut counts = Vec::with_capacity(request.objects.len());
    for object in &request.objects {
        let mut count = ObjectCount {
            name: object.name.clone(),
            rows: None,
            exact: false,
            fault: None,
            dependants: Vec::new(),
        };
        match find_object(&mut text_session, object).await.map_err(lost)? {
            Ok(Some(found)) => {
                if object.kind == CountedKind::Table {
                    count_rows(&mut text_session, &found, &mut count)
                        .await
                        .map_err(lost)?;
                }
                count.dependants = list_dependants(&reader, object.kind, &found.oid).await?;
            }
            Ok(None) => count.fault = Some("It does not exist yet".to_owned()),
            Err(error) => count.fault = Some(error.message),
        }
        counts.push(count);
    }
    Ok(HttpResponse::Ok().json(json!({ "objects": counts })))
}

/// Looks up an object by its name; the inner error is PostgreSQL's, such as a schema that the subject may not use.
async fn find_object(
    session: &mut TextSession,
    object: &NamedObject,
) -> Result<Result<Option<FoundObject>, TextNotice>, TextSessionError> {
    let name = quote_literal(&object.name);
    let statement = match object.kind {
        CountedKind::Table | CountedKind::Relation => format!(
            "select c.oid::text, pg_catalog.format('%I.%I', n.nspname, c.relname), \
               case when c.reltuples > 0 then c.reltuples::int8::text end \
             from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
             where c.oid = pg_catalog.to_regclass({name})"
        ),
        CountedKind::Type => format!("select pg_catalog.to_regtype({name})::oid::text, '', null"),
        CountedKind::Function => format!("select pg_catalog.to_regproc({name})::oid::text, '', null"),
        CountedKind::Schema => format!("select pg_catalog.to_regnamespace({name})::oid::text, '', null"),
    };
    let row = read_in_savepoint(session, &statement).await?;
    Ok(row.map(|values| {
        let mut values = values.into_iter();
        let oid = values.next().flatten()?;
        let qualified = values.next().flatten()?;
        let estimate = values.next().flatten();
        Some(FoundObject {
            oid,
            qualified,
            estimated_rows: estimate.and_then(|text| text.parse().ok()),
        })
    }))
}

/// Counts the rows that the subject sees, or takes PostgreSQL's estimate when that takes too long.
async fn count_rows(
    session: &mut TextSession,
    found: &FoundObject,
    count: &mut ObjectCount,
) -> Result<(), TextSessionError> {
    let statement = format!("select pg_catalog.count(*)::text from {}", found.qualified);
    match read_in_savepoint(session, &statement).await? {
        Ok(values) => {
            let text = values.into_iter().next().flatten();
            count.rows = text.and_then(|text| text.parse().ok());
            count.exact = true;
        }
        Err(error) if error.code == QUERY_CANCELED && found.estimated_rows.is_some() => {
            count.rows = found.estimated_rows;
        }
        Err(error) => count.fault = Some(error.message),
    }
    Ok(())
}

/// Reads one row inside a savepoint, so that an error does not abort the transaction in which the other objects are counted.
async fn read_in_savepoint(
    session: &mut TextSession,
    statement: &str,
) -> Result<Result<Vec<Option<String>>, TextNotice>, TextSessionError> {
    session.run("savepoint object").await?;
    let outcome = read_first_row(session, statement, MAX_CELL_BYTES).await?;
    if outcome.is_err() {
        session.run("rollback to savepoint object").await?;
    }
    Ok(outcome.map(Option::unwrap_or_default))
}

async fn list_dependants(
    reader: &CatalogReader<'_>,
    kind: CountedKind,
    oid: &str,
) -> Result<Vec<Dependant>, ConsoleError> {
    let mut dependants = match kind {
        CountedKind::Table => reader.list_dependants(ObjectKind::Tables, oid).await?,
        CountedKind::Relation => reader.list_dependants(ObjectKind::Views, oid).await?,
        CountedKind::Type => reader.list_dependants(ObjectKind::Types, oid).await?,
        CountedKind::Function => reader.list_dependants(ObjectKind::Functions, oid).await?,
        CountedKind::Schema => reader.list_schema_members(oid).await?,
    };
    // Indexes, constraints and defaults of the dropped table itself are not listed.
    dependants.retain(|dependant| kind == CountedKind::Schema || dependant.how == "normal");
    dependants.truncate(MAX_DEPENDANTS);
    Ok(dependants)
}
