//! `POST /api/rows/import`: the rows of a CSV file, all of them or none.

use std::pin::Pin;
use std::time::Duration;

use actix_web::{HttpResponse, web};
use bytes::Bytes;
use encoding_rs::Decoder;
use futures_util::{SinkExt as _, StreamExt as _};
use selvedge_introspection::TableShape;
use serde_json::json;
use tokio::time::timeout;
use tokio_postgres::{CopyInSink, Error, Transaction};

use super::decode::decode;
use super::fields::Fields;
use super::options::ImportOptions;
use super::records::{Records, Reject};
use super::tolerant;
use crate::audit::{AuditEntry, AuditPermit};
use crate::error::ConsoleError;
use crate::rows::table::find_table;
use crate::session::Session;
use crate::state::ConsoleState;

/// No time limit, because a file may take long; waiting for a locked row fails after 4 s.
const SET_TIMEOUTS: &str = "set local lock_timeout = '4s'; set local statement_timeout = '1h'";
/// An upload of which nothing comes for so long is given up, because its transaction holds locks.
const STALL_LIMIT: Duration = Duration::from_secs(60);

/// Streams a file from the request to `COPY`, with at most one chunk or record in memory.
struct Upload {
    decoder: Decoder,
    parser: Parser,
    text: Vec<u8>,
}

/// How a file is parsed before it is sent to COPY.
enum Parser {
    /// Splits fields only, so that unwanted columns can be left out; an error rejects the file.
    Fields(Fields),
    /// Splits records, and skips malformed ones.
    Records(Records),
}

/// `POST /api/rows/import?table=&columns=&header=&delimiter=&null=&encoding=&rejects=`, with the file as body
/// → `{rows, rejects?: [{line, message, values}]}`
pub(in crate::rows) async fn import_rows(
    state: web::Data<ConsoleState>,
    session: Session,
    options: web::Query<ImportOptions>,
    mut body: web::Payload,
) -> Result<HttpResponse, ConsoleError> {
    let mut upload = Upload::new(&options)?;
    let _permit = state.permit_statement(&session)?;
    let audit = AuditPermit::request(&state).await?;
    // A new connection: when the client disconnects, this function is dropped at any point, and the connection is closed
    // with it.
    let mut client = state.database.dedicated(session.level).await?;
    let mut transaction = client.transaction().await?;
    transaction.batch_execute(SET_TIMEOUTS).await?;
    let table = find_table(&transaction, &options.table).await?;
    let statement = options.statement(&table)?;
    let (rows, rejects) = if options.rejects {
        let (rows, rejects) = upload
            .import_good(&mut transaction, &table, &options, &mut body)
            .await?;
        (rows, Some(rejects))
    } else {
        let sink = transaction.copy_in(&statement).await?;
        (upload.copy(&mut body, std::pin::pin!(sink)).await?, None)
    };
    let target = format!("{}.{}", table.schema, table.name);
    let count = i64::try_from(rows).unwrap_or(i64::MAX);
    // In the same transaction, so that there are neither rows without an entry nor an entry without rows.
    let entry = AuditEntry::new("rows.import", &target)
        .with_statement(&statement)
        .with_rows(count);
    audit.write(&transaction, &session, entry).await?;
    transaction.commit().await?;
    let mut answer = json!({ "rows": rows });
    if let Some(rejects) = rejects {
        answer["rejects"] = serde_json::to_value(rejects)?;
    }
    Ok(HttpResponse::Ok().json(answer))
}

impl Upload {
    fn new(options: &ImportOptions) -> Result<Self, ConsoleError> {
        let keep = options.mapping()?.iter().map(Option::is_some).collect();
        let delimiter = options.delimiter()?;
        Ok(Self {
            decoder: options.decoder(),
            parser: if options.rejects {
                Parser::Records(Records::new(keep, delimiter, options.header))
            } else {
                Parser::Fields(Fields::new(keep, delimiter))
            },
            text: Vec::new(),
        })
    }

    /// Imports the rows that PostgreSQL accepts, and returns their number and the refused rows.
    async fn import_good(
        &mut self,
        transaction: &mut Transaction<'_>,
        table: &TableShape,
        options: &ImportOptions,
        body: &mut web::Payload,
    ) -> Result<(u64, Vec<Reject>), ConsoleError> {
        let names = options.names()?;
        tolerant::create_staging(transaction, names.len()).await?;
        let statement = tolerant::copy_statement(options.delimiter()?, &options.null);
        let sink = transaction.copy_in(&statement).await?;
        self.copy(body, std::pin::pin!(sink)).await?;
        let Parser::Records(records) = &mut self.parser else {
            return Ok((0, Vec::new()));
        };
        // Malformed records come first; all refused rows are sorted by line at the end.
        let mut rejects = std::mem::take(&mut records.rejects);
        let rows = tolerant::insert_staged(transaction, table, &names, records.count, &mut rejects).await?;
        rejects.sort_by_key(|reject| reject.line);
        Ok((rows, rejects))
    }

    /// Sends the file to `COPY`, and returns the number of its rows. A sink that is dropped before its end makes PostgreSQL
    /// give up the statement.
    async fn copy(
        &mut self,
        body: &mut web::Payload,
        mut sink: Pin<&mut CopyInSink<Bytes>>,
    ) -> Result<u64, ConsoleError> {
        loop {
            let piece = timeout(STALL_LIMIT, body.next())
                .await
                .map_err(|_| ConsoleError::invalid("Nothing of the file has come for a minute"))?
                .transpose()
                .map_err(|_| ConsoleError::invalid("The upload broke off, and nothing was imported"))?;
            let kept = self.read(piece.as_deref())?;
            // After an error PostgreSQL ignores further data, and reports the error at the end.
            let is_refused = !kept.is_empty() && sink.send(kept).await.is_err();
            if piece.is_none() || is_refused {
                let rows = sink.as_mut().finish().await;
                return rows.map_err(|error| self.explain(error));
            }
        }
    }

    /// Returns what is imported of a piece, or of the end of the file.
    fn read(&mut self, piece: Option<&[u8]>) -> Result<Bytes, ConsoleError> {
        self.text.clear();
        let is_last = piece.is_none();
        let piece = piece.unwrap_or_default();
        let decoded = decode(&mut self.decoder, piece, is_last, &mut self.text);
        let mut kept = Vec::with_capacity(self.text.len());
        let line = match &mut self.parser {
            Parser::Fields(fields) => pass_fields(fields, &self.text, is_last, &mut kept)?,
            Parser::Records(records) => pass_records(records, &self.text, is_last, &mut kept)?,
        };
        decoded.map_err(|_| {
            ConsoleError::invalid("The file is not in this encoding").with("line", json!(line))
        })?;
        Ok(kept.into())
    }

    /// Adds line and column of the file to PostgreSQL's error.
    fn explain(&self, error: Error) -> ConsoleError {
        let place = error.as_db_error().and_then(|error| error.where_());
        let (line, column) = place.map_or((None, None), read_place);
        let mut explained = ConsoleError::from(error);
        if let Some(line) = line {
            let line = match &self.parser {
                Parser::Fields(fields) => fields.line_in_file(line),
                Parser::Records(_) => line,
            };
            explained = explained.with("line", json!(line));
        }
        match column {
            Some(column) => explained.with("column", json!(column)),
            None => explained,
        }
    }
}

/// Sends a piece of the file to COPY, and returns the number of the line in which it ends.
fn pass_fields(
    fields: &mut Fields,
    text: &[u8],
    is_last: bool,
    kept: &mut Vec<u8>,
) -> Result<i64, ConsoleError> {
    let passed = fields.write_kept(text, kept);
    let passed = passed.and_then(|()| if is_last { fields.finish() } else { Ok(()) });
    let line = i64::try_from(fields.line()).unwrap_or(i64::MAX);
    passed.map_err(|_| {
        ConsoleError::invalid("A line \\. would end the import there; put it into quotes")
            .with("line", json!(line))
    })?;
    Ok(line)
}

/// Sends the well-formed records of a piece of the file to COPY.
fn pass_records(
    records: &mut Records,
    text: &[u8],
    is_last: bool,
    kept: &mut Vec<u8>,
) -> Result<i64, ConsoleError> {
    let passed = records.write_kept(text, kept);
    let passed = passed.and_then(|()| if is_last { records.finish(kept) } else { Ok(()) });
    passed.map_err(|open| {
        ConsoleError::invalid("A quote that begins in this row is never closed")
            .with("line", json!(open.line))
    })?;
    tolerant::check_count(&records.rejects)?;
    Ok(records.line())
}

/// Reads line and column from the context of an error, as in `COPY notes, line 3, column n: "x"`.
fn read_place(context: &str) -> (Option<u64>, Option<String>) {
    let Some((_, place)) = context
        .lines()
        .find(|line| line.starts_with("COPY "))
        .and_then(|line| line.split_once(", line "))
    else {
        return (None, None);
    };
    let digits = place.split(|sign: char| !sign.is_ascii_digit()).next();
    let column = place
        .split_once(", column ")
        .and_then(|(_, column)| column.split_once(": "))
        .map(|(column, _)| column.to_owned());
    (digits.and_then(|digits| digits.parse().ok()), column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_059_line_and_column_are_read_from_the_context_of_an_error() {
        let place = read_place("COPY notes, line 3, column n: \"x\"");
        assert_eq!(place, (Some(3), Some("n".to_owned())));
        assert_eq!(read_place("COPY notes, line 7: \"1,2\""), (Some(7), None));
        let nested = "PL/pgSQL function f() line 3 at RAISE\nCOPY notes, line 2";
        assert_eq!(read_place(nested), (Some(2), None));
        assert_eq!(read_place("SQL statement"), (None, None));
    }
}
