//! `_selvedge.selvedge_outgoing_mails`: the queue of mails, from the commit of the request until an SMTP server has accepted
//! them. `mailer::delivery` delivers them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use selvedge_mail::Mail;

use super::{DbResult, list_rows, run_statement};

/// A mail that no other process tries to send until the lease ends.
#[derive(Debug)]
pub(crate) struct LeasedMail {
    pub(crate) id: i64,
    pub(crate) mail: Mail,
    /// Number of attempts, including this one.
    pub(crate) tries: i32,
    /// Whether the code in the mail has expired.
    pub(crate) is_expired: bool,
}

/// Queues a mail. It is sent after the caller's transaction has committed, so a request that fails sends nothing. At
/// `expires_at` the code in the mail stops working, and delivery is given up.
pub(crate) async fn enqueue(db: &impl GenericClient, mail: &Mail, expires_at: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str = "insert into _selvedge.selvedge_outgoing_mails (recipient, subject, html, body, message_type, \
                       expires_at) values ($1::text, $2::text, $3::text, $4::text, $5::text, $6)";
    run_statement(
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

/// Leases at most `count` mails that are due. A mail whose lease ends without [`delete`], [`give_up`] or [`postpone`] becomes due
/// again.
pub(crate) async fn lease_due(
    db: &impl GenericClient,
    count: i64,
    lease: Duration,
) -> DbResult<Vec<LeasedMail>> {
    const SQL: &str = include_str!("../../sql/lease_due_mails.sql");
    let rows = list_rows(db, SQL, &[&count, &lease.as_secs_f64()]).await?;
    rows.iter()
        .map(|row| {
            Ok(LeasedMail {
                id: row.try_get("id")?,
                mail: Mail {
                    to: row.try_get("recipient")?,
                    subject: row.try_get("subject")?,
                    html: row.try_get("html")?,
                    text: row.try_get("body")?,
                    message_type: row.try_get("message_type")?,
                    unsubscribe_url: None,
                },
                tries: row.try_get("tries")?,
                is_expired: row.try_get("is_expired")?,
            })
        })
        .collect()
}

/// Removes a mail that was sent. A later attempt, which another node has begun meanwhile, is not to be repeated either.
pub(crate) async fn delete(db: &impl GenericClient, id: i64) -> DbResult<()> {
    run_statement(
        db,
        "delete from _selvedge.selvedge_outgoing_mails where id = $1",
        &[&id],
    )
    .await
}

/// Removes a mail that was rejected permanently, or has expired, unless a later attempt than `tries` has begun.
pub(crate) async fn give_up(db: &impl GenericClient, id: i64, tries: i32) -> DbResult<()> {
    const SQL: &str = "delete from _selvedge.selvedge_outgoing_mails where id = $1 and tries = $2";
    run_statement(db, SQL, &[&id, &tries]).await
}

/// Schedules the next attempt after `pause`; `error` is kept for administrators. Changes nothing when a later attempt than `tries` has
/// begun: this process was frozen for longer than its lease, and the mail would be sent twice.
pub(crate) async fn postpone(
    db: &impl GenericClient,
    id: i64,
    tries: i32,
    pause: Duration,
    error: &str,
) -> DbResult<()> {
    // The clock of the database decides what is due, because those of the nodes may differ.
    const SQL: &str = "update _selvedge.selvedge_outgoing_mails set last_error = $3::text, \
                       next_try_at = now() + $2::float8 * interval '1 second' where id = $1 and tries = $4";
    run_statement(db, SQL, &[&id, &pause.as_secs_f64(), &error, &tries]).await
}
