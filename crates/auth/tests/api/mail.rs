//! Mails over a real SMTP conversation, templates, and what happens when the server is gone.

use std::time::Duration;

use selvedge_mail::{Inbox, MailKind, MailTemplates, Mailer, SmtpConfig, SmtpMailer, inbox};
use serde_json::json;
use tokio::net::TcpListener;

use crate::app::{PASSWORD, Setup, TestApp};

fn smtp(port: u16) -> Option<Mailer> {
    let config = SmtpConfig {
        port,
        timeout: Duration::from_secs(2),
        ..SmtpConfig::default()
    };
    Some(Mailer::Smtp(SmtpMailer::new(&config).unwrap()))
}

#[actix_web::test]
async fn auth_093_a_projects_template_goes_out_by_smtp() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mailer = smtp(listener.local_addr().unwrap().port());
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
    let app = TestApp::from(Setup {
        mailer,
        templates,
        ..Setup::default()
    })
    .await;

    let body = json!({"email": "ana@example.com", "password": PASSWORD, "data": {"username": "<b>Ana"}});
    assert_eq!(app.post("/signup", body).send().await.status, 200);

    let mail = received.find("latest").unwrap();
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

#[actix_web::test]
async fn auth_092_a_dead_smtp_server_leaves_no_user_and_stops_no_sign_in() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let app = TestApp::from(Setup {
        mailer: smtp(closed),
        ..Setup::default()
    })
    .await;
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

#[actix_web::test]
async fn a_silent_smtp_server_does_not_stop_sign_ins() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let app = TestApp::from(Setup {
        mailer: smtp(listener.local_addr().unwrap().port()),
        ..Setup::default()
    })
    .await;
    app.user("ana@example.com").await;
    let addresses: Vec<String> = (0..12).map(|n| format!("u{n}@example.com")).collect();
    let waiting =
        futures_util::future::join_all(addresses.iter().map(|address| app.sign_up(address, PASSWORD)));

    let sign_in = tokio::time::timeout(
        Duration::from_millis(1500),
        app.sign_in("ana@example.com", PASSWORD),
    );
    let (sign_ups, sign_in) = futures_util::future::join(waiting, sign_in).await;

    assert_eq!(sign_in.unwrap().status, 200);
    assert!(sign_ups.iter().all(|answer| answer.status >= 500));
    assert_eq!(app.count("select count(*) from auth.users").await, 1);
}

#[actix_web::test]
async fn the_instances_mail_limit_holds() {
    let app = TestApp::with(|config| config.rate_limits.emails_per_hour = Some(2)).await;
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

#[actix_web::test]
async fn mails_may_be_restricted_to_known_addresses() {
    let app =
        TestApp::with(|config| config.email.authorized_addresses = vec!["ana@example.com".to_owned()]).await;

    assert_eq!(app.sign_up("ana+test@example.com", PASSWORD).await.status, 200);
    assert_eq!(
        app.sign_up("eve@example.com", PASSWORD).await.error(),
        (400, "email_address_not_authorized")
    );
}
