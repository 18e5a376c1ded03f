//! `POST /api/rows/import`: the rows of a CSV file, all of them or none.

use std::pin::Pin;
use std::time::Duration;

use actix_web::{HttpResponse, web};
use bytes::Bytes;
use encoding_rs::Decoder;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use tokio::time::timeout;
use tokio_postgres::{CopyInSink, Error};

use super::decode::decode;
use super::fields::Fields;
use super::options::ImportOptions;
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::rows::table::find_table;
use crate::session::Session;
use crate::state::ConsoleState;

/// A file may take long, but a row that somebody else has locked is reported after 4 s.
const LIMITS: &str = "set local lock_timeout = '4s'; set local statement_timeout = '1h'";
/// An upload of which nothing comes for so long is given up, because its transaction holds locks.
const STALL_LIMIT: Duration = Duration::from_secs(60);

/// The way of a file from the request to `COPY`. No more than a piece of it is in memory.
struct Upload {
    decoder: Decoder,
    fields: Fields,
    text: Vec<u8>,
}

/// `POST /api/rows/import?table=&columns=&header=&delimiter=&null=&encoding=`, with the file as body
pub(in crate::rows) async fn import_rows(
    state: web::Data<ConsoleState>,
    session: Session,
    options: web::Query<ImportOptions>,
    mut body: web::Payload,
) -> Result<HttpResponse, ConsoleError> {
    let keep = options.mapping()?.iter().map(Option::is_some).collect();
    let mut upload = Upload {
        decoder: options.decoder(),
        fields: Fields::new(keep, options.delimiter()?),
        text: Vec::new(),
    };
    let _permit = state.permit_statement(&session)?;
    // A connection of its own: where the client goes away this function ends at any place, and the connection with it.
    let mut client = state.database.dedicated(session.level).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(LIMITS).await?;
    let table = find_table(&transaction, &options.table).await?;
    let statement = options.statement(&table)?;
    let sink = transaction.copy_in(&statement).await?;
    let rows = upload.copy(&mut body, std::pin::pin!(sink)).await?;
    let target = format!("{}.{}", table.schema, table.name);
    let count = i64::try_from(rows).unwrap_or(i64::MAX);
    // In the same transaction, so that there are neither rows without an entry nor an entry without rows.
    let entry = AuditEntry::new("rows.import", &target)
        .with_statement(&statement)
        .with_rows(count);
    audit::write(&transaction, &session, entry).await?;
    transaction.commit().await?;
    Ok(HttpResponse::Ok().json(json!({ "rows": rows })))
}

impl Upload {
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
            // After a fault PostgreSQL takes nothing more, and tells the fault at the end.
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
        let decoded = decode(
            &mut self.decoder,
            piece.unwrap_or_default(),
            piece.is_none(),
            &mut self.text,
        );
        let mut kept = Vec::with_capacity(self.text.len());
        let mut passed = self.fields.pass(&self.text, &mut kept);
        if piece.is_none() {
            passed = passed.and_then(|()| self.fields.finish());
        }
        let line = self.fields.line();
        passed.map_err(|_| {
            ConsoleError::invalid("A line \\. would end the import there; put it into quotes")
                .with("line", json!(line))
        })?;
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
            explained = explained.with("line", json!(self.fields.line_in_file(line)));
        }
        match column {
            Some(column) => explained.with("column", json!(column)),
            None => explained,
        }
    }
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
