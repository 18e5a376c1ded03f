//! The queue: leases and outcomes of mails, one short transaction each, as `service_role`.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use selvedge_mail::Mail;
use selvedge_postgres::{
    AccessMode, Database, ListenEvent, Login, RequestContext, TableName, begin_as_caller,
};
use tokio::sync::mpsc::Receiver;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::error::QueueError;
use crate::text::{MailLinks, html_of, one_line};

/// The channel on which a project announces a mail that is due. Without announcements, nodes poll every few seconds.
const CHANNEL: &str = "selvedge_mails";

/// Connections of one node: statements are short, and few.
const CONNECTIONS: usize = 1;

/// The role that bypasses the project's policies.
const SERVICE: RequestContext<'static> = RequestContext {
    search_path: "public, extensions",
    role: "service_role",
    claims: "{\"role\":\"service_role\"}",
    method: "",
    path: "",
    headers: "{}",
    cookies: "{}",
    extra: &[],
};

/// $1 mails at most, $2 seconds of the lease. A trigger of the project may write the mail at this moment, or end it. The token is read
/// from the whole row, because a table need not have a column for it.
const LEASE: &str = "
    update {table} as mail
    set tries = mail.tries + 1, next_try_at = now() + make_interval(secs => $2)
    where mail.id in (
      select due.id from {table} as due
      where due.done_at is null and due.next_try_at <= now()
      order by due.next_try_at, due.id
      limit $1
      for update skip locked)
    returning mail.id, mail.tries, mail.recipient::text, mail.subject::text, mail.body::text, mail.html::text,
      mail.expires_at < now(), mail.done_at is not null, to_jsonb(mail) ->> 'unsubscribe_token'";

/// $1 id, $2 attempt, $3 why the mail was not sent, null when it was. One that was sent is not sent again by a later attempt either,
/// which another node has begun because this one was frozen for longer than its lease. A mail that the project has queued anew
/// meanwhile, with its attempts counted from 0, is sent.
const END: &str = "
    update {table} as mail set done_at = now(), last_error = $3
    where mail.id = $1 and (mail.tries = $2 or $3::text is null and mail.tries > $2) and mail.done_at is null";

/// $1 id, $2 attempt, $3 why, $4 seconds until the next attempt.
const POSTPONE: &str = "
    update {table} as mail set last_error = $3, next_try_at = now() + make_interval(secs => $4)
    where mail.id = $1 and mail.tries = $2 and mail.done_at is null";

/// $1 why, $2 seconds until the next attempt. The attempt is not counted, because the trigger that counts on it has failed.
const SKIP_FIRST: &str = "
    update {table} as mail
    set last_error = $1, next_try_at = now() + make_interval(secs => $2),
      done_at = case when mail.expires_at < now() then now() end
    where mail.id = (
      select due.id from {table} as due
      where due.done_at is null and due.next_try_at <= now()
      order by due.next_try_at, due.id
      limit 1
      for update skip locked)";

/// A mail that no other node sends until its lease ends.
pub(crate) struct LeasedMail {
    pub(crate) id: Uuid,
    pub(crate) tries: i32,
    pub(crate) mail: Mail,
    pub(crate) is_expired: bool,
    /// Whether the project has ended it when it was leased, so that it is not sent.
    pub(crate) is_ended: bool,
}

/// The project's table of mails.
pub(crate) struct Queue {
    database: Arc<Database>,
    pool: Pool,
    lease: String,
    end: String,
    postpone: String,
    skip_first: String,
    links: MailLinks,
}

impl Queue {
    pub(crate) fn new(table: &TableName, database: Arc<Database>, links: MailLinks) -> Self {
        let with_table = |statement: &str| statement.replace("{table}", &table.quoted());
        Self {
            pool: database.pool(Login::Authenticator, CONNECTIONS),
            database,
            lease: with_table(LEASE),
            end: with_table(END),
            postpone: with_table(POSTPONE),
            skip_first: with_table(SKIP_FIRST),
            links,
        }
    }

    /// Notifications of mails that are due.
    pub(crate) fn listen(&self) -> Receiver<ListenEvent> {
        self.database.listen(&[CHANNEL])
    }

    /// Leases at most `count` mails that are due.
    pub(crate) async fn lease(&self, count: i64, lease: Duration) -> Result<Vec<LeasedMail>, QueueError> {
        let rows = self.query(&self.lease, &[&count, &lease.as_secs_f64()]).await?;
        rows.iter().map(|row| self.read(row)).collect()
    }

    /// Records that a mail was sent, or with an `error` that it never will be.
    pub(crate) async fn end(&self, id: Uuid, tries: i32, error: Option<&str>) -> Result<(), QueueError> {
        self.query(&self.end, &[&id, &tries, &error]).await?;
        Ok(())
    }

    /// Records why a mail was not accepted, and when it is tried again.
    pub(crate) async fn postpone(
        &self,
        id: Uuid,
        tries: i32,
        error: &str,
        pause: Duration,
    ) -> Result<(), QueueError> {
        self.query(&self.postpone, &[&id, &tries, &error, &pause.as_secs_f64()])
            .await?;
        Ok(())
    }

    /// Postpones the mail that is due first, which cannot be leased.
    pub(crate) async fn skip_first(&self, error: &str, pause: Duration) -> Result<(), QueueError> {
        self.query(&self.skip_first, &[&error, &pause.as_secs_f64()])
            .await?;
        Ok(())
    }

    fn read(&self, row: &Row) -> Result<LeasedMail, QueueError> {
        // A mail without a recipient is refused when it is sent, and stops no other.
        let text = |column: usize| {
            row.try_get::<_, Option<String>>(column)
                .map(Option::unwrap_or_default)
        };
        let body = text(4)?;
        let html: Option<String> = row.try_get(5)?;
        let is_expired: Option<bool> = row.try_get(6)?;
        let token: Option<String> = row.try_get(8)?;
        let unsubscribe_url = self.links.unsubscribe(token.as_deref());
        let fill_in = |text: &str| self.links.fill_in(text, unsubscribe_url.as_deref());
        Ok(LeasedMail {
            id: row.try_get(0)?,
            tries: row.try_get(1)?,
            mail: Mail {
                to: text(2)?,
                subject: one_line(text(3)?),
                html: fill_in(&html.unwrap_or_else(|| html_of(&body))),
                text: fill_in(&body),
                message_type: "project".to_owned(),
                unsubscribe_url,
            },
            is_expired: is_expired.unwrap_or(false),
            is_ended: row.try_get(7)?,
        })
    }

    async fn query(&self, statement: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, QueueError> {
        query_as_service(&self.database, &self.pool, statement, params).await
    }
}

/// Runs a statement as `service_role`, in a transaction of its own.
pub(crate) async fn query_as_service(
    database: &Database,
    pool: &Pool,
    statement: &str,
    params: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, QueueError> {
    let mut client = pool.get().await?;
    // A project may have set a statement timeout or search path for service_role.
    let roles = database.role_settings();
    let transaction = begin_as_caller(&mut client, &SERVICE, &roles, AccessMode::ReadWrite).await?;
    let prepared = transaction.prepare_cached(statement).await?;
    let rows = transaction.query(&prepared, params).await?;
    transaction.commit().await?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use selvedge_postgres::Logins;
    use selvedge_testing::TestDatabase;

    use super::*;

    /// A node that was frozen for longer than its lease has sent a mail that another one has tried meanwhile.
    #[actix_web::test]
    async fn a_mail_that_was_sent_is_not_sent_again_by_a_later_attempt() {
        let test = TestDatabase::create().await;
        let client = test.superuser().await;
        let table = "create table public.mails (id uuid primary key default gen_random_uuid(), recipient text, subject text default '', \
             body text default '', html text, next_try_at timestamptz default now(), tries int default 0, expires_at timestamptz, \
             done_at timestamptz, last_error text); grant all on public.mails to service_role; \
             insert into public.mails (recipient) values ('one@site.test')";
        client.batch_execute(table).await.expect("a table");
        let logins = Logins::with_single_login(test.config("authenticator"));
        let database = Database::connect(logins).await.expect("a login");
        let table = TableName::parse("public.mails").expect("a table");
        let queue = Queue::new(&table, database, MailLinks::new("https://site.test", None));
        let lease = Duration::from_secs(60);
        let first = queue.lease(1, lease).await.expect("leased").remove(0);
        client
            .batch_execute("update public.mails set next_try_at = now()")
            .await
            .expect("the lease has ended");
        let second = queue.lease(1, lease).await.expect("leased").remove(0);
        let is_done = async || {
            let row = client
                .query_one("select done_at is not null, last_error from public.mails", &[])
                .await
                .expect("a mail");
            (row.get::<_, bool>(0), row.get::<_, Option<String>>(1))
        };
        let hour = Duration::from_secs(3_600);

        // What the frozen node could not do counts no more.
        queue
            .end(first.id, first.tries, Some("no"))
            .await
            .expect("a write");
        queue
            .postpone(first.id, first.tries, "late", hour)
            .await
            .expect("a write");
        assert_eq!(is_done().await, (false, None));

        queue.end(first.id, first.tries, None).await.expect("a write");
        assert_eq!(is_done().await, (true, None));
        queue
            .postpone(second.id, second.tries, "the server is away", hour)
            .await
            .expect("a write");
        assert_eq!(is_done().await, (true, None));
    }
}
