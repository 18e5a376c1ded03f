//! SMTP over real sockets: this crate's transport sends to its own receiver.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall say where")]

use std::time::Duration;

use selvedge_mail::{Inbox, Mail, MailError, Mailer, Sender, SmtpConfig, SmtpMailer, inbox};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn start_receiver() -> (Inbox, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let received = Inbox::default();
    tokio::spawn(inbox::smtp::listen(listener, received.clone()));
    (received, port)
}

fn build_mailer(port: u16) -> Mailer {
    let sender = Sender {
        address: "shop@example.com".to_owned(),
        name: "Möbel & Co".to_owned(),
    };
    let headers = vec![("X-Kind".to_owned(), "a $messageType".to_owned())];
    let config = SmtpConfig {
        port,
        sender,
        headers,
        timeout: Duration::from_secs(1),
        ..SmtpConfig::default()
    };
    Mailer::Smtp(SmtpMailer::new(&config).unwrap())
}

fn build_mail(to: &str, subject: &str, text: &str) -> Mail {
    Mail {
        to: to.to_owned(),
        subject: subject.to_owned(),
        html: "<p>Grüße</p>".to_owned(),
        text: text.to_owned(),
        message_type: "recovery".to_owned(),
        unsubscribe_url: None,
    }
}

#[tokio::test]
async fn a_mail_that_can_be_switched_off_has_the_headers_of_rfc_8058_and_others_have_none() {
    let (received, port) = start_receiver().await;
    let mailer = build_mailer(port);
    let url = format!(
        "https://site.test/mails/v1/unsubscribe?token={}",
        "Az09-_".repeat(20)
    );
    for unsubscribe_url in [
        Some(url.clone()),
        None,
        Some("https://site.test/>\r\nBcc: eve@example.com".to_owned()),
    ] {
        let mail = Mail {
            unsubscribe_url,
            ..build_mail("ana@example.com", "News", "x")
        };
        mailer.send(mail).await.unwrap();
    }

    let found: Vec<Vec<String>> = received
        .list_mails()
        .iter()
        .rev()
        .map(|mail| {
            let headers = mail.headers.iter();
            let named = headers.filter(|(name, _)| name.starts_with("List-") || name == "Bcc");
            named.map(|(name, value)| format!("{name}: {value}")).collect()
        })
        .collect();
    let both = [
        format!("List-Unsubscribe: <{url}>"),
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click".to_owned(),
    ];
    assert_eq!(found, [both.to_vec(), Vec::new(), Vec::new()]);
}

#[tokio::test]
async fn mail_arrives_with_all_parts_unchanged() {
    let (received, port) = start_receiver().await;
    let mailer = build_mailer(port);

    for n in 0..3 {
        mailer
            .send(build_mail(
                "ana@example.com",
                &format!("Grüße {n}"),
                "Line\n.dot\n..two",
            ))
            .await
            .unwrap();
    }

    let stored = received.list_mails();
    assert_eq!(stored.len(), 3);
    assert_eq!(stored[0].subject, "Grüße 2");
    assert_eq!(
        (stored[0].from.name.as_str(), stored[0].from.address.as_str()),
        ("Möbel & Co", "shop@example.com")
    );
    assert_eq!(stored[0].html.trim(), "<p>Grüße</p>");
    assert_eq!(stored[0].text.replace("\r\n", "\n").trim(), "Line\n.dot\n..two");
    assert!(
        stored[0]
            .headers
            .iter()
            .any(|(name, value)| name == "X-Kind" && value == "a recovery")
    );
}

#[tokio::test]
async fn headers_cannot_be_injected() {
    let (received, port) = start_receiver().await;
    let mailer = build_mailer(port);

    let subject = mailer
        .send(build_mail("ana@example.com", "x\r\nBcc: eve@example.com", "x"))
        .await;
    let address = mailer
        .send(build_mail(
            "ana@example.com>\r\nRCPT TO:<eve@example.com",
            "x",
            "x",
        ))
        .await;

    assert!(matches!(address, Err(MailError::Address(_))));
    if subject.is_ok() {
        let stored = received.find_mail("latest").unwrap();
        assert!(
            !stored
                .headers
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case("bcc")),
            "{:?}",
            stored.headers
        );
    }
    let config = SmtpConfig {
        headers: vec![("X".to_owned(), "a\r\nBcc: b@c.d".to_owned())],
        ..SmtpConfig::default()
    };
    assert!(matches!(SmtpMailer::new(&config), Err(MailError::Header(_))));
}

#[tokio::test]
async fn unreachable_or_silent_servers_fail_within_the_time_limit() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();

    let silent_mailer = build_mailer(silent.local_addr().unwrap().port());
    let no_answer = tokio::time::timeout(
        Duration::from_secs(60),
        silent_mailer.send(build_mail("a@b.c", "x", "x")),
    );

    assert!(no_answer.await.unwrap().is_err());
    assert!(matches!(
        build_mailer(gone).send(build_mail("a@b.c", "x", "x")).await,
        Err(MailError::Smtp(_))
    ));
}

#[tokio::test]
async fn receiver_refuses_unknown_and_out_of_order_commands() {
    let (received, port) = start_receiver().await;
    let mut client = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let lines = [
        "HELO me",
        "DATA",
        "RCPT TO:<a@b.c>",
        "MAIL FROM:<x@y.z>",
        "RCPT TO:a@b.c",
        "RCPT TO:<a@b.c>",
        "VRFY a",
        "DATA",
        "Subject: hi",
        "",
        "..stuffed",
        ".",
        "QUIT",
    ];
    client
        .write_all(lines.map(|line| format!("{line}\r\n")).concat().as_bytes())
        .await
        .unwrap();

    let mut answers = String::new();
    client.read_to_string(&mut answers).await.unwrap();

    let codes: Vec<&str> = answers.lines().map(|line| &line[..3]).collect();
    assert_eq!(
        codes,
        [
            "220", "250", "503", "503", "250", "501", "250", "502", "354", "250", "221"
        ]
    );
    let stored = received.find_mail("latest").unwrap();
    assert_eq!(
        (stored.to[0].address.as_str(), stored.text.trim()),
        ("a@b.c", ".stuffed")
    );
}
