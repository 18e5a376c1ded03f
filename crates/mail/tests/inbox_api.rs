//! The inbox as test suites of projects poll it: Mailpit's API, Inbucket's API, and the bodies that the page frames.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall say where")]

use actix_web::App;
use actix_web::http::{Method, header};
use actix_web::test::{TestRequest, call_service, init_service, read_body};
use selvedge_mail::inbox::{TextChannel, TextMessage};
use selvedge_mail::{Inbox, Mail, Sender, inbox};
use serde_json::{Value, json};

fn build_mail(to: &str, subject: &str) -> Mail {
    Mail {
        to: to.to_owned(),
        subject: subject.to_owned(),
        html: format!("<p>{subject}</p>"),
        text: format!("Hello, this is {subject}. Code 123456"),
        message_type: String::new(),
        unsubscribe_url: None,
    }
}

fn fill_inbox() -> Inbox {
    let inbox = Inbox::default();
    for (to, subject) in [
        ("ana@example.com", "First"),
        ("bea@example.com", "Second"),
        ("ana@example.com", "Third"),
    ] {
        inbox.deliver(&Sender::default(), build_mail(to, subject));
    }
    inbox
}

/// Status, body, and `Content-Security-Policy` of one request.
async fn send_request(inbox: &Inbox, method: Method, path: &str, body: Value) -> (u16, String, String) {
    let service = init_service(App::new().configure(inbox::configure(inbox.clone()))).await;
    let request = TestRequest::with_uri(path)
        .method(method)
        .set_payload(body.to_string())
        .to_request();
    let response = call_service(&service, request).await;
    let policy = response.headers().get(header::CONTENT_SECURITY_POLICY);
    let policy = policy.map_or(String::new(), |value| value.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    (
        status,
        String::from_utf8(read_body(response).await.to_vec()).unwrap(),
        policy,
    )
}

async fn get_path(inbox: &Inbox, path: &str) -> Value {
    let (status, body, _) = send_request(inbox, Method::GET, path, Value::Null).await;
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

fn subjects(list: &Value) -> Vec<&str> {
    list["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mail| mail["Subject"].as_str().unwrap())
        .collect()
}

#[actix_web::test]
async fn messages_are_listed_newest_first_in_pages() {
    let inbox = fill_inbox();

    let all = get_path(&inbox, "/api/v1/messages").await;
    let page = get_path(&inbox, "/api/v1/messages?start=1&limit=1").await;

    assert_eq!(subjects(&all), ["Third", "Second", "First"]);
    assert_eq!(
        (&all["total"], &all["unread"], &all["messages_count"]),
        (&json!(3), &json!(3), &json!(3))
    );
    assert_eq!(
        all["messages"][0]["From"],
        json!({"Name": "Admin", "Address": "admin@email.com"})
    );
    assert_eq!(all["messages"][0]["To"][0]["Address"], "ana@example.com");
    assert!(
        all["messages"][0]["Snippet"]
            .as_str()
            .unwrap()
            .starts_with("Hello")
    );
    assert_eq!((subjects(&page), &page["count"]), (vec!["Second"], &json!(1)));
}

#[actix_web::test]
async fn reading_a_message_returns_both_bodies_and_marks_it_as_read() {
    let inbox = fill_inbox();

    let latest = get_path(&inbox, "/api/v1/message/latest").await;

    assert_eq!(
        (&latest["Subject"], &latest["HTML"]),
        (&json!("Third"), &json!("<p>Third</p>"))
    );
    assert!(latest["Text"].as_str().unwrap().contains("Code 123456"));
    assert_eq!(get_path(&inbox, "/api/v1/messages").await["unread"], 2);
    assert_eq!(
        send_request(&inbox, Method::GET, "/api/v1/message/nothing", Value::Null)
            .await
            .0,
        404
    );
}

#[actix_web::test]
async fn search_supports_words_prefixes_and_negation() {
    let inbox = fill_inbox();
    for (query, expected) in [
        ("to:ana@example.com", vec!["Third", "First"]),
        ("to:%22ana@example.com%22%20third", vec!["Third"]),
        ("subject:second", vec!["Second"]),
        ("-subject:second", vec!["Third", "First"]),
        ("is:read", vec![]),
        ("%22this%20is%20first%22", vec!["First"]),
    ] {
        let found = get_path(&inbox, &format!("/api/v1/search?query={query}")).await;
        assert_eq!(subjects(&found), expected, "{query}");
    }
}

#[actix_web::test]
async fn mails_are_deleted_by_id_by_search_or_all() {
    let inbox = fill_inbox();
    let latest = get_path(&inbox, "/api/v1/message/latest").await["ID"].clone();

    send_request(
        &inbox,
        Method::DELETE,
        "/api/v1/messages",
        json!({"IDs": [latest]}),
    )
    .await;
    assert_eq!(
        subjects(&get_path(&inbox, "/api/v1/messages").await),
        ["Second", "First"]
    );
    send_request(&inbox, Method::DELETE, "/api/v1/search?query=to:bea", Value::Null).await;
    assert_eq!(subjects(&get_path(&inbox, "/api/v1/messages").await), ["First"]);
    let (status, body, _) = send_request(&inbox, Method::DELETE, "/api/v1/messages", json!({})).await;
    assert_eq!((status, body.as_str(), inbox.list_mails().len()), (200, "ok", 0));
}

#[actix_web::test]
async fn inbucket_api_lists_a_mailbox_oldest_first() {
    let inbox = fill_inbox();

    let list = get_path(&inbox, "/api/v1/mailbox/ana").await;
    let id = list[1]["id"].as_str().unwrap();
    let message = get_path(&inbox, &format!("/api/v1/mailbox/ana/{id}")).await;

    assert_eq!(
        (&list[0]["subject"], &list[1]["subject"]),
        (&json!("First"), &json!("Third"))
    );
    assert!(message["body"]["text"].as_str().unwrap().contains("Third"));
    assert_eq!(message["header"]["To"], json!(["ana@example.com"]));
    assert_eq!(
        send_request(
            &inbox,
            Method::GET,
            &format!("/api/v1/mailbox/bea/{id}"),
            Value::Null
        )
        .await
        .0,
        404
    );
    send_request(&inbox, Method::DELETE, "/api/v1/mailbox/ana", Value::Null).await;
    assert_eq!(inbox.list_mails().len(), 1);
}

#[actix_web::test]
async fn bodies_are_sandboxed_and_the_page_loads_nothing_from_other_origins() {
    let inbox = fill_inbox();

    let (_, page, page_policy) = send_request(&inbox, Method::GET, "/", Value::Null).await;
    let (_, html, body_policy) = send_request(&inbox, Method::GET, "/view/latest.html", Value::Null).await;
    let (_, text, _) = send_request(&inbox, Method::GET, "/view/latest.txt", Value::Null).await;

    assert!(page.contains("<h1>Inbox</h1>") && page_policy.contains("default-src 'none'"));
    assert!(html.contains("<p>Third</p>"));
    assert!(body_policy.starts_with("sandbox ") && body_policy.contains("script-src 'none'"));
    assert!(!body_policy.contains("allow-scripts") && !body_policy.contains("allow-same-origin"));
    assert!(text.starts_with("Hello"));
}

#[actix_web::test]
async fn headers_and_source_can_be_read() {
    let inbox = fill_inbox();

    let headers = get_path(&inbox, "/api/v1/message/latest/headers").await;
    let (_, source, _) = send_request(&inbox, Method::GET, "/api/v1/message/latest/raw", Value::Null).await;

    assert_eq!(headers["Subject"], json!(["Third"]));
    assert!(source.contains("Subject: Third\r\n") && source.contains("<p>Third</p>"));
}

#[actix_web::test]
async fn text_messages_have_a_tag_and_their_code_and_mails_have_neither() {
    let inbox = fill_inbox();
    inbox.deliver_text(TextMessage {
        from: "Lookbook".to_owned(),
        to: "+491700000001".to_owned(),
        text: "Your code is 123456\nDo not share it.".to_owned(),
        code: Some("123456".to_owned()),
        channel: TextChannel::Whatsapp,
    });

    let found = get_path(&inbox, "/api/v1/search?query=to:%2B491700000001").await;
    assert_eq!(subjects(&found), ["Your code is 123456"]);
    assert_eq!(
        (&found["messages"][0]["Tags"], &found["messages"][0]["Code"]),
        (&json!(["WhatsApp"]), &json!("123456"))
    );
    let message = get_path(&inbox, "/api/v1/message/latest").await;
    assert_eq!(
        (&message["Text"], &message["HTML"], &message["Code"]),
        (
            &json!("Your code is 123456\nDo not share it."),
            &json!(""),
            &json!("123456")
        )
    );
    let mails = get_path(&inbox, "/api/v1/search?query=-tag:whatsapp").await;
    assert_eq!(subjects(&mails), ["Third", "Second", "First"]);
    assert_eq!(
        (&mails["messages"][0]["Tags"], mails["messages"][0].get("Code")),
        (&json!([]), None)
    );
}
