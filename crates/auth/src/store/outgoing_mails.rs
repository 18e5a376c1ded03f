//! `_selvedge.outgoing_mails`: mails that are to be sent, until an SMTP server has taken them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use selvedge_mail::Mail;

use super::{DbResult, list, run};

/// A mail that this process may try to send until its lease ends.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) id: i64,
    pub(crate) mail: Mail,
    /// How many tries there were, this one included.
    pub(crate) tries: i32,
    /// Its code has expired.
    pub(crate) is_late: bool,
}

/// Promises a mail; it is sent when the caller's transaction has been committed.
pub(crate) async fn put(db: &impl GenericClient, mail: &Mail, expires_at: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str = "insert into _selvedge.outgoing_mails (recipient, subject, html, body, message_type, \
                       expires_at) values ($1::text, $2::text, $3::text, $4::text, $5::text, $6)";
    run(
        db,
        SQL,
        &[
            &mail.to,
            &mail.subject,
            &mail.html,
            &mail.text,
            &mail.message_type,
            &expires_at,
        ],
    )
    .await
}

/// Takes at most `count` mails that are due.
pub(crate) async fn take(db: &impl GenericClient, count: i64, lease: Duration) -> DbResult<Vec<Taken>> {
    const SQL: &str = include_str!("../../sql/take_outgoing_mails.sql");
    let rows = list(db, SQL, &[&count, &lease.as_secs_f64()]).await?;
    rows.iter()
        .map(|row| {
            Ok(Taken {
                id: row.try_get("id")?,
                mail: Mail {
                    to: row.try_get("recipient")?,
                    subject: row.try_get("subject")?,
                    html: row.try_get("html")?,
                    text: row.try_get("body")?,
                    message_type: row.try_get("message_type")?,
                },
                tries: row.try_get("tries")?,
                is_late: row.try_get("is_late")?,
            })
        })
        .collect()
}

/// A mail that was sent, or that nobody can send.
pub(crate) async fn delete(db: &impl GenericClient, id: i64) -> DbResult<()> {
    run(db, "delete from _selvedge.outgoing_mails where id = $1", &[&id]).await
}

/// A mail to be tried again.
pub(crate) async fn postpone(db: &impl GenericClient, id: i64, pause: Duration, error: &str) -> DbResult<()> {
    const SQL: &str = "update _selvedge.outgoing_mails set last_error = $3::text, \
                       next_try_at = now() + $2::float8 * interval '1 second' where id = $1";
    run(db, SQL, &[&id, &pause.as_secs_f64(), &error]).await
}
