//! Mail delivery over SMTP: templates, the queue, limits, notifications, and an unreachable server.

use std::time::Duration;

use selvedge_mail::{Inbox, MailKind, MailTemplates, Mailer, SmtpConfig, SmtpMailer, inbox};
use serde_json::json;
use tokio::net::TcpListener;

use crate::app::{PASSWORD, Setup, TestApp};

/// Configures mails to be sent by SMTP to a port of this machine, which also enables the queue.
fn smtp_mailer(port: u16) -> Option<Mailer> {
    let config = SmtpConfig {
        port,
        timeout: Duration::from_secs(2),
        ..SmtpConfig::default()
    };
    Some(Mailer::Smtp(SmtpMailer::new(&config).unwrap()))
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_093_mails_use_the_projects_template_over_smtp() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mailer = smtp_mailer(listener.local_addr().unwrap().port());
    let received = Inbox::default();
    actix_web::rt::spawn(inbox::smtp::listen(listener, received.clone()));
    let mut templates = MailTemplates::default();
    templates
        .set_subject(MailKind::Confirmation, "Grüße, {{ .Data.username }}")
        .unwrap();
    templates
        .set_content(
            MailKind::Confirmation,
            "<p>{{ .Data.username }} <a href=\"{{ .ConfirmationURL }}\">x</a> {{ .Token }}</p>",
        )
        .unwrap();
    let app = TestApp::start_setup(Setup {
        mailer,
        templates,
        ..Setup::default()
    })
    .await;

    let body = json!({"email": "ana@example.com", "password": PASSWORD, "data": {"username": "<b>Ana"}});
    assert_eq!(app.post("/signup", body).send().await.status, 200);

    received.wait_for(1).await;
    let mail = received.find_mail("latest").unwrap();
    assert_eq!(
        (mail.subject.as_str(), mail.to[0].address.as_str()),
        ("Grüße, <b>Ana", "ana@example.com")
    );
    assert_eq!(
        (mail.from.name.as_str(), mail.from.address.as_str()),
        ("Admin", "admin@email.com")
    );
    assert!(
        mail.html.contains("&lt;b&gt;Ana <a href=\"http://127.0.0.1"),
        "{}",
        mail.html
    );
    assert!(
        mail.html
            .contains("&amp;type=signup&amp;redirect_to=https://site.example")
    );
    let link = mail.html.split('"').nth(1).unwrap().replace("&amp;", "&");
    assert!(app.get(&link).send().await.in_fragment("access_token").is_some());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_092_without_the_queue_an_unreachable_smtp_server_fails_sign_ups_but_not_sign_ins() {
    // The listener is dropped at once, so nothing listens on its port.
    let closed = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut setup = Setup {
        mailer: smtp_mailer(closed),
        ..Setup::default()
    };
    setup.config.email.queue = false;
    let app = TestApp::start_setup(setup).await;
    app.user("bea@example.com").await;

    let signup = app.sign_up("ana@example.com", PASSWORD).await;
    let recover = app
        .post("/recover", json!({"email": "bea@example.com"}))
        .send()
        .await;

    assert_eq!(
        (signup.error(), signup.message()),
        ((500, "unexpected_failure"), "Error sending confirmation email")
    );
    assert_eq!(recover.message(), "Error sending recovery email");
    assert_eq!(app.count("select count(*) from auth.users").await, 1);
    assert_eq!(app.count("select count(*) from auth.one_time_tokens").await, 0);
    assert_eq!(app.sign_in("bea@example.com", PASSWORD).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_unresponsive_smtp_server_delays_no_request_and_loses_no_mail() {
    // Connections are never accepted: the server side stays silent.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let app = TestApp::start_setup(Setup {
        mailer: smtp_mailer(listener.local_addr().unwrap().port()),
        ..Setup::default()
    })
    .await;

    let addresses: Vec<String> = (0..12).map(|n| format!("u{n}@example.com")).collect();
    let sign_ups =
        futures_util::future::join_all(addresses.iter().map(|address| app.sign_up(address, PASSWORD))).await;

    assert!(sign_ups.iter().all(|response| response.status == 200));
    assert_eq!(app.count("select count(*) from auth.users").await, 12);
    assert_eq!(
        app.count("select count(*) from _selvedge.selvedge_outgoing_mails")
            .await,
        12
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_hourly_mail_limit_counts_mails_to_all_addresses_together() {
    let app = TestApp::start_with(|config| config.rate_limits.emails_per_hour = Some(2)).await;
    let mut statuses = Vec::new();
    for n in 0..3 {
        statuses.push(app.sign_up(&format!("u{n}@example.com"), PASSWORD).await);
    }

    assert_eq!(statuses[1].status, 200);
    assert_eq!(
        (statuses[2].error(), statuses[2].message()),
        ((429, "over_email_send_rate_limit"), "email rate limit exceeded")
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 2);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn mails_are_sent_to_authorized_addresses_only() {
    let app =
        TestApp::start_with(|config| config.email.authorized_addresses = vec!["ana@example.com".to_owned()])
            .await;

    assert_eq!(app.sign_up("ana+test@example.com", PASSWORD).await.status, 200);
    assert_eq!(
        app.sign_up("eve@example.com", PASSWORD).await.error(),
        (400, "email_address_not_authorized")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_queued_mail_is_sent_when_the_smtp_server_is_back() {
    let port = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let app = TestApp::start_setup(Setup {
        mailer: smtp_mailer(port),
        ..Setup::default()
    })
    .await;
    assert_eq!(app.sign_up("ana@example.com", PASSWORD).await.status, 200);
    app.eventually(
        "select tries from _selvedge.selvedge_outgoing_mails where last_error is not null",
        |rows| rows.len() == 1,
    )
    .await;

    let received = Inbox::default();
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    actix_web::rt::spawn(inbox::smtp::listen(listener, received.clone()));
    app.sql(
        "update _selvedge.selvedge_outgoing_mails set next_try_at = now()",
        &[],
    )
    .await;
    // A new mail wakes the delivery, which also sends the older one.
    assert_eq!(app.sign_up("bea@example.com", PASSWORD).await.status, 200);

    received.wait_for(2).await;
    app.eventually("select 1 from _selvedge.selvedge_outgoing_mails", <[_]>::is_empty)
        .await;
    let mails = received.list_mails();
    let mut recipients: Vec<&str> = mails.iter().map(|mail| mail.to[0].address.as_str()).collect();
    recipients.sort_unstable();
    assert_eq!(recipients, ["ana@example.com", "bea@example.com"]);
}

/// A node that was frozen for longer than its lease reports its failure while another one sends the mail.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_outcome_of_an_attempt_that_another_one_has_replaced_changes_nothing() {
    // It accepts connections and is silent, until it closes them.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let app = TestApp::start_setup(Setup {
        mailer: smtp_mailer(listener.local_addr().unwrap().port()),
        ..Setup::default()
    })
    .await;
    assert_eq!(app.sign_up("ana@example.com", PASSWORD).await.status, 200);
    let (connection, _) = listener.accept().await.unwrap();
    // Another node has the mail now.
    app.sql(
        "update _selvedge.selvedge_outgoing_mails set tries = tries + 1, next_try_at = now() + interval '1 hour'",
        &[],
    )
    .await;
    assert_eq!(app.sign_up("bea@example.com", PASSWORD).await.status, 200);

    drop(connection);
    drop(listener);

    // The second mail's attempt fails after the first one's, as both are reported by one task.
    app.eventually(
        "select 1 from _selvedge.selvedge_outgoing_mails where recipient like '%bea%' and last_error is not null",
        |rows| rows.len() == 1,
    )
    .await;
    let fenced = app
        .count(
            "select count(*) from _selvedge.selvedge_outgoing_mails where recipient like '%ana%' and last_error is null \
             and next_try_at > now() + interval '30 minutes'",
        )
        .await;
    assert_eq!(fenced, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn mails_of_a_killed_node_are_sent_once_and_expired_ones_never() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mailer = smtp_mailer(listener.local_addr().unwrap().port());
    let received = Inbox::default();
    actix_web::rt::spawn(inbox::smtp::listen(listener, received.clone()));
    let app = TestApp::start_setup(Setup {
        mailer,
        ..Setup::default()
    })
    .await;

    // One mail with an expired lease, one with an expired code, one to an unknown recipient, one that another node has
    // leased.
    app.sql(
        "insert into _selvedge.selvedge_outgoing_mails (recipient, subject, html, body, tries, next_try_at, expires_at) values \
         ('ana@example.com', 'taken over', 'x', 'x', 1, now() - interval '1 second', now() + interval '1 hour'), \
         ('ana@example.com', 'late', 'x', 'x', 9, now() - interval '1 second', now() - interval '1 second'), \
         ('nobody at all', 'no address', 'x', 'x', 0, now(), now() + interval '1 hour'), \
         ('ana@example.com', 'leased', 'x', 'x', 1, now() + interval '1 minute', now() + interval '1 hour')",
        &[],
    )
    .await;
    assert_eq!(app.sign_up("bea@example.com", PASSWORD).await.status, 200);

    received.wait_for(2).await;
    let left = app
        .eventually("select subject from _selvedge.selvedge_outgoing_mails", |rows| {
            rows.len() == 1
        })
        .await;
    assert_eq!(left[0].get::<_, String>(0), "leased");
    let mails = received.list_mails();
    let mut subjects: Vec<&str> = mails.iter().map(|mail| mail.subject.as_str()).collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["Confirm your email address", "taken over"]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_failed_request_queues_no_mail_and_api_roles_cannot_read_the_queue() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let app = TestApp::start_setup(Setup {
        mailer: smtp_mailer(listener.local_addr().unwrap().port()),
        ..Setup::default()
    })
    .await;
    app.migrate(
        "create function public.refuse() returns trigger language plpgsql as \
         $$ begin if new.confirmation_token <> '' then raise 'no'; end if; return new; end $$; \
         create trigger refuse after update on auth.users for each row execute function public.refuse();",
    )
    .await;

    let refused = app.sign_up("ana@example.com", PASSWORD).await;

    assert_eq!(refused.status, 500);
    assert_eq!(
        app.count("select count(*) from _selvedge.selvedge_outgoing_mails")
            .await,
        0
    );
    let readers = app
        .sql(
            "select rolname from pg_roles where rolname in ('anon', 'authenticated', 'service_role', 'authenticator') \
             and has_table_privilege(oid, '_selvedge.selvedge_outgoing_mails', 'select')",
            &[],
        )
        .await;
    assert!(readers.is_empty(), "codes in mails are nobody else's business");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn changes_of_password_and_address_are_notified_by_mail() {
    let app = TestApp::start_with(|config| {
        config.email.notifications = vec![MailKind::PasswordChanged, MailKind::EmailChanged];
        config.email.secure_change = false;
    })
    .await;
    let session = app.user("ana@example.com").await;

    app.put("/user", json!({"password": "another horse"}))
        .bearer(&session.access_token)
        .send()
        .await;
    assert_eq!(
        app.mail_to("ana@example.com").subject,
        "Your password was changed"
    );
    app.put("/user", json!({"email": "new@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;
    let link = app.mail_to("new@example.com").link;
    assert!(app.get(&link).send().await.in_fragment("access_token").is_some());
    assert_eq!(
        app.mail_to("ana@example.com").subject,
        "Your email address was changed"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_020_links_use_the_forwarded_host_when_it_is_allowed() {
    let hosts = vec!["auth.site.example".to_owned(), "localhost".to_owned()];
    let app = TestApp::start_behind_proxy(|config| config.external_hosts.clone_from(&hosts)).await;
    app.user("ana@example.com").await;
    let link = async |host: &str, proto: &str| {
        let call = app.post("/recover", json!({"email": "ana@example.com"}));
        let call = call
            .header("x-forwarded-host", host)
            .header("x-forwarded-proto", proto);
        assert_eq!(call.send().await.status, 200);
        app.mail_to("ana@example.com").link
    };

    let known = link("auth.site.example", "http").await;
    assert!(
        known.starts_with("https://auth.site.example/auth/v1/verify?token="),
        "{known}"
    );
    let local = link("localhost", "http").await;
    assert!(
        local.starts_with("http://localhost/auth/v1/verify?token="),
        "{local}"
    );
    let stranger = link("evil.example", "https").await;
    assert!(
        stranger.starts_with(&format!("{}/verify?token=", app.base)),
        "{stranger}"
    );
    let body = json!({"type": "recovery", "email": "ana@example.com"});
    let call = app
        .post("/admin/generate_link", body)
        .header("x-forwarded-host", "auth.site.example");
    let made = call.admin().send().await.body;
    assert!(
        made["action_link"]
            .as_str()
            .unwrap()
            .starts_with("https://auth.site.example/auth/v1/verify?")
    );

    // Without a proxy the client has written the header.
    let direct = TestApp::start_with(|config| config.external_hosts = hosts).await;
    direct.user("ana@example.com").await;
    let call = direct.post("/recover", json!({"email": "ana@example.com"}));
    call.header("x-forwarded-host", "auth.site.example").send().await;
    let unproxied = direct.mail_to("ana@example.com").link;
    assert!(
        unproxied.starts_with(&format!("{}/verify?token=", direct.base)),
        "{unproxied}"
    );
}
