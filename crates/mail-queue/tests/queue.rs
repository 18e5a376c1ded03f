//! Queued mails with a real PostgreSQL, the development inbox and an SMTP server that cannot be reached.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::test::TestRequest;
use actix_web::{App, body, test, web};
use selvedge_mail::{Inbox, Mailer, Sender, SmtpConfig, SmtpMailer};
use selvedge_mail_queue::{
    MailLimits, MailLinks, MailQueue, Unsubscribe, configure, deliver_queued_mails_forever,
};
use selvedge_postgres::{Database, Logins, TableName};
use selvedge_testing::TestDatabase;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

/// Longer than anything takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// The smallest table that fulfils the contract of docs/mails.md.
const TABLE: &str = "
    create table public.mails (
      id uuid primary key default gen_random_uuid(),
      recipient text,
      subject text not null default 'News',
      body text not null default 'Hello',
      html text,
      next_try_at timestamptz not null default now(),
      tries int not null default 0,
      expires_at timestamptz,
      done_at timestamptz,
      last_error text
    );
    alter table public.mails enable row level security;
    grant all on public.mails to service_role";

struct Project {
    database: TestDatabase,
    client: Client,
}

impl Project {
    async fn create() -> Self {
        let database = TestDatabase::create().await;
        let client = database.superuser().await;
        client.batch_execute(TABLE).await.expect("the table");
        Self { database, client }
    }

    /// Starts a node that delivers with this mailer.
    async fn start_node(&self, mailer: Mailer) -> JoinHandle<()> {
        self.start_limited_node(mailer, MailLimits::default()).await
    }

    async fn connect(&self) -> Arc<Database> {
        let login = |role| self.database.config(role);
        let logins = Logins::new(
            login("authenticator"),
            login("supabase_auth_admin"),
            login("supabase_storage_admin"),
        );
        Database::connect(logins).await.expect("the login works")
    }

    async fn start_limited_node(&self, mailer: Mailer, limits: MailLimits) -> JoinHandle<()> {
        let table = TableName::parse("public.mails").expect("a table");
        let links = MailLinks::new("https://site.test/", Some("https://api.test"));
        let mails = MailQueue::new(&table, self.connect().await, mailer, links, limits);
        tokio::spawn(deliver_queued_mails_forever(Arc::clone(&mails)))
    }

    async fn run(&self, sql: &str) {
        self.client.batch_execute(sql).await.expect(sql);
        self.client
            .batch_execute("notify selvedge_mails")
            .await
            .expect("notified");
    }

    async fn count(&self, condition: &str) -> i64 {
        let sql = format!("select count(*) from public.mails where {condition}");
        self.client.query_one(&sql, &[]).await.expect("counted").get(0)
    }

    async fn wait_for(&self, condition: &str, count: i64) {
        let wait = async {
            while self.count(condition).await != count {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(DEADLINE, wait).await.expect(condition);
    }
}

fn inbox() -> (Inbox, Mailer) {
    let inbox = Inbox::default();
    (inbox.clone(), Mailer::Inbox(inbox, Sender::default()))
}

/// An SMTP server that cannot be reached.
fn unreachable_server() -> Mailer {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = closed.local_addr().expect("an address").port();
    drop(closed);
    let smtp = SmtpMailer::new(&SmtpConfig {
        host: "127.0.0.1".to_owned(),
        port,
        ..SmtpConfig::default()
    });
    Mailer::Smtp(smtp.expect("a mailer"))
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_queued_mail_is_sent_with_the_address_of_the_site_and_once() {
    let project = Project::create().await;
    let (received, mailer) = inbox();
    let node = project.start_node(mailer).await;

    project
        .run(
            "insert into public.mails (recipient, subject, body) values
               ('ana@example.com', E'New\\nBcc: eve@example.com', 'See {{ .SiteURL }}/look/a <b>')",
        )
        .await;
    project
        .wait_for("done_at is not null and last_error is null", 1)
        .await;

    let mails = received.list_mails();
    let [mail] = &mails[..] else {
        panic!("{} mails", mails.len());
    };
    assert_eq!(mail.to.len(), 1);
    assert_eq!(mail.subject, "New Bcc: eve@example.com");
    assert_eq!(mail.text.trim(), "See https://site.test/look/a <b>");
    assert!(
        mail.html
            .contains("<a href=\"https://site.test/look/a\">https://site.test/look/a</a> &lt;b&gt;"),
        "{}",
        mail.html
    );
    node.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn two_nodes_send_each_mail_once() {
    let project = Project::create().await;
    let (received, mailer) = inbox();
    let nodes = [
        project.start_node(mailer.clone()).await,
        project.start_node(mailer).await,
    ];

    project
        .run(
            "insert into public.mails (recipient, subject)
             select 'p' || n || '@example.com', 'Mail ' || n from generate_series(1, 30) as n",
        )
        .await;
    project.wait_for("done_at is not null", 30).await;

    assert_eq!(received.list_mails().len(), 30);
    assert_eq!(project.count("tries = 1").await, 30);
    nodes.iter().for_each(JoinHandle::abort);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn mails_that_are_not_due_wait_and_those_that_cannot_be_sent_stop_no_other() {
    let project = Project::create().await;
    let (received, mailer) = inbox();
    project
        .run(
            "insert into public.mails (recipient, subject, next_try_at, expires_at) values
               (null, 'to nobody', now() - interval '3 s', null),
               ('late@example.com', 'expired', now() - interval '2 s', now() - interval '1 s'),
               ('soon@example.com', 'not due', now() + interval '1 hour', null),
               ('ana@example.com', 'due', now(), now() + interval '1 hour')",
        )
        .await;

    // The inbox takes every address, so the mail to nobody is refused by an SMTP client alone.
    let node = project.start_node(mailer).await;
    project
        .wait_for("subject = 'due' and done_at is not null", 1)
        .await;
    project
        .wait_for(
            "subject = 'expired' and last_error = 'expired' and done_at is not null",
            1,
        )
        .await;

    assert_eq!(
        project
            .count("subject = 'not due' and tries = 0 and done_at is null")
            .await,
        1
    );
    assert!(
        received
            .list_mails()
            .iter()
            .all(|mail| mail.subject != "expired" && mail.subject != "not due")
    );
    node.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_server_that_cannot_be_reached_is_tried_again_and_a_malformed_address_is_not() {
    let project = Project::create().await;
    let node = project.start_node(unreachable_server()).await;

    project
        .run("insert into public.mails (recipient) values ('ana@example.com'), ('no address'), (null)")
        .await;
    project
        .wait_for("done_at is null and tries > 0 and last_error is not null", 1)
        .await;
    project
        .wait_for(
            "done_at is not null and last_error like 'invalid mail address%'",
            2,
        )
        .await;
    node.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_trigger_of_the_project_writes_a_mail_when_it_is_taken_or_ends_it() {
    let project = Project::create().await;
    let (received, mailer) = inbox();
    project
        .run(
            "create function public.write_mail() returns trigger language plpgsql as $$
             begin
               if new.subject = 'nothing' then new.done_at := now(); new.last_error := 'nothing to tell'; end if;
               new.body := 'written ' || new.tries;
               return new;
             end $$;
             create trigger write before update of tries on public.mails
               for each row when (new.tries > old.tries) execute function public.write_mail();
             insert into public.mails (recipient, subject) values ('a@example.com', 'nothing'), ('b@example.com', 'something')",
        )
        .await;

    let node = project.start_node(mailer).await;
    project.wait_for("done_at is not null", 2).await;

    let mails = received.list_mails();
    assert_eq!(mails.len(), 1);
    assert_eq!(
        (mails[0].subject.as_str(), mails[0].text.trim()),
        ("something", "written 1")
    );
    assert_eq!(project.count("last_error = 'nothing to tell'").await, 1);
    node.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn only_authorized_addresses_get_mail() {
    let project = Project::create().await;
    let (received, mailer) = inbox();
    let limits = MailLimits {
        authorized_addresses: vec!["ana@example.com".to_owned()],
        ..MailLimits::default()
    };
    let node = project.start_limited_node(mailer, limits).await;

    project
        .run("insert into public.mails (recipient) values ('Ana+news@example.com'), ('eve@example.com'), (null)")
        .await;
    project.wait_for("done_at is not null", 3).await;

    assert_eq!(received.list_mails().len(), 1);
    let refused =
        "last_error = 'not an authorized address' and recipient is distinct from 'Ana+news@example.com'";
    assert_eq!(project.count(refused).await, 2);
    node.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_node_sends_no_more_than_its_mails_of_an_hour() {
    let project = Project::create().await;
    let (received, mailer) = inbox();
    let limits = MailLimits {
        per_hour: Some(6),
        ..MailLimits::default()
    };
    let node = project.start_limited_node(mailer, limits).await;

    project
        .run("insert into public.mails (recipient) select 'p' || n || '@example.com' from generate_series(1, 10) as n")
        .await;
    project.wait_for("done_at is not null", 6).await;
    // An announcement does not wake it.
    project.run("select 1").await;
    tokio::time::sleep(Duration::from_secs(1)).await;

    assert_eq!(project.count("done_at is null and tries = 0").await, 4);
    assert_eq!(received.list_mails().len(), 6);
    node.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn without_a_server_mails_wait_untouched() {
    let project = Project::create().await;
    project
        .run("insert into public.mails (recipient) values ('ana@example.com')")
        .await;

    let node = project.start_node(Mailer::Missing).await;
    let ended = tokio::time::timeout(DEADLINE, node).await;

    ended.expect("it returns").expect("without a panic");
    assert_eq!(
        project
            .count("tries = 0 and done_at is null and last_error is null")
            .await,
        1
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_server_that_cannot_be_reached_is_not_asked_for_every_mail() {
    let project = Project::create().await;
    let node = project.start_node(unreachable_server()).await;

    project
        .run("insert into public.mails (recipient) select 'p' || n || '@example.com' from generate_series(1, 40) as n")
        .await;
    let asked = "(select count(*) from public.mails where last_error is not null) >= 4";
    project.wait_for(asked, 40).await;
    project.run("select 1").await;
    tokio::time::sleep(Duration::from_secs(1)).await;

    // Four at first, and one after each pause of ten seconds or more.
    let untouched = project.count("tries = 0").await;
    assert!(untouched > 30, "{untouched}");
    node.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_mail_whose_trigger_fails_stops_no_other() {
    let project = Project::create().await;
    let (received, mailer) = inbox();
    project
        .run(
            "create function public.write_mail() returns trigger language plpgsql as $$
             begin
               if new.subject = 'broken' then raise exception 'cannot be written'; end if;
               return new;
             end $$;
             create trigger write before update of tries on public.mails
               for each row when (new.tries > old.tries) execute function public.write_mail();
             insert into public.mails (recipient, subject, next_try_at) values
               ('a@example.com', 'first', now() - interval '3 s'),
               ('b@example.com', 'broken', now() - interval '2 s'),
               ('c@example.com', 'last', now() - interval '1 s')",
        )
        .await;

    let node = project.start_node(mailer).await;
    project.wait_for("done_at is not null", 2).await;

    assert_eq!(received.list_mails().len(), 2);
    let postponed = "subject = 'broken' and tries = 0 and last_error = 'cannot be written' and next_try_at > now() + interval '30 min'";
    assert_eq!(project.count(postponed).await, 1);
    node.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_mail_with_a_token_can_be_ended_by_its_headers_and_its_link() {
    let project = Project::create().await;
    let (received, mailer) = inbox();
    let token = "aZ09-_".repeat(8);
    project
        .run(&format!(
            "alter table public.mails add unsubscribe_token text;
             insert into public.mails (recipient, subject, body, unsubscribe_token) values
               ('a@example.com', 'with', 'End: {{{{ .UnsubscribeURL }}}}', '{token}'),
               ('b@example.com', 'guessable', 'End: {{{{ .UnsubscribeURL }}}}', '1'),
               ('c@example.com', 'without', 'Hello', null)"
        ))
        .await;

    let node = project.start_node(mailer).await;
    project
        .wait_for("done_at is not null and last_error is null", 3)
        .await;

    let mails = received.list_mails();
    let find = |subject: &str| mails.iter().find(|mail| mail.subject == subject).expect("sent");
    let headers = |subject: &str| -> Vec<String> {
        let all = find(subject).headers.iter();
        let named = all.filter(|(name, _)| name.starts_with("List-"));
        named.map(|(_, value)| value.clone()).collect()
    };
    let url = format!("https://api.test/mails/v1/unsubscribe?token={token}");
    assert_eq!(
        headers("with"),
        [format!("<{url}>"), "List-Unsubscribe=One-Click".to_owned()]
    );
    assert_eq!(find("with").text, format!("End: {url}"));
    assert!(find("with").html.contains(&format!("<a href=\"{url}\">")));
    assert!(headers("guessable").is_empty() && headers("without").is_empty());
    assert_eq!(find("guessable").text, "End: https://site.test");
    node.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn whoever_has_the_token_ends_mails_without_a_session_and_a_link_that_is_opened_ends_none() {
    let project = Project::create().await;
    let token = "aZ09-_".repeat(8);
    project
        .run(&format!(
            "create table public.people (token text, mails int not null default 0);
             grant all on public.people to service_role;
             insert into public.people values ('{token}');
             create function public.unsubscribe(token text) returns boolean language plpgsql as $$
             begin
               if token like 'broken%' then raise exception 'broken'; end if;
               update public.people as p set mails = mails + 1 where p.token = unsubscribe.token;
               return found;
             end $$"
        ))
        .await;
    let function = TableName::parse("public.unsubscribe").expect("a name");
    let unsubscribe = Unsubscribe::new(&function, project.connect().await, "https://site.test/?a=\"b");
    let app = App::new().service(web::scope("/mails/v1").configure(configure(unsubscribe)));
    let app = test::init_service(app).await;
    let ask = async |request: TestRequest, query: &str| {
        let address = format!("/mails/v1/unsubscribe{query}");
        let response = test::call_service(&app, request.uri(&address).to_request()).await;
        let status = response.status();
        let policy = response.headers().get("Content-Security-Policy").cloned();
        let page = body::to_bytes(response.into_body()).await.expect("a body");
        (status, policy, String::from_utf8_lossy(&page).into_owned())
    };
    let calls = async || {
        let row = project
            .client
            .query_one("select mails from public.people", &[])
            .await;
        row.expect("a row").get::<_, i32>(0)
    };
    let known = format!("?token={token}");

    let (status, policy, page) = ask(TestRequest::get(), &known).await;
    assert_eq!((status, calls().await), (StatusCode::OK, 0));
    assert!(
        page.contains("<form method=\"post\">") && page.contains("href=\"https://site.test/?a=&quot;b\"")
    );
    assert!(policy.is_some_and(|policy| policy.to_str().expect("text").contains("frame-ancestors 'none'")));
    for _ in 0..2 {
        let one_click = TestRequest::post().set_form([("List-Unsubscribe", "One-Click")]);
        assert_eq!(ask(one_click, &known).await.0, StatusCode::OK);
    }
    assert_eq!(calls().await, 2);
    let unknown = format!("?token={}", "b".repeat(48));
    let injected = format!("?token={token}'%20or%201=1");
    for query in [
        "",
        "?token=",
        "?token=1",
        &*unknown,
        &*injected,
        &*format!("{known}&token=x"),
    ] {
        let (status, _, page) = ask(TestRequest::post(), query).await;
        assert_eq!(
            (status, page.contains(&token)),
            (StatusCode::NOT_FOUND, false),
            "{query}"
        );
    }
    let broken = format!("?token=broken{}", "b".repeat(48));
    assert_eq!(
        ask(TestRequest::post(), &broken).await.0,
        StatusCode::SERVICE_UNAVAILABLE
    );
    assert_eq!(
        ask(TestRequest::put(), &known).await.0,
        StatusCode::METHOD_NOT_ALLOWED
    );
    assert_eq!(calls().await, 2);
}
