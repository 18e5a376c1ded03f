//! The mails that wait for the SMTP server in production.

use serde_json::Value;

use super::support::Console;

#[tokio::test]
async fn console_140_waiting_mails_are_listed_with_their_error_without_their_content_and_sent_again_on_demand()
 {
    let console = Console::start().await;
    let superuser = console.database.superuser().await;
    superuser
        .batch_execute(
            "insert into _selvedge.selvedge_outgoing_mails
               (recipient, subject, html, body, tries, next_try_at, expires_at, last_error)
             values ('ana@example.com', 'Confirm', 'code 123456', 'code 123456', 3, now() + interval '1 hour',
                     now() + interval '1 day', 'connection refused'),
                    ('ben@example.com', 'Expired', '', '', 9, now(), now() - interval '1 minute', null)",
        )
        .await
        .unwrap();
    let (viewer, admin) = (console.sign_in("vera"), console.sign_in("adam"));

    let list = console.page_as(&admin, "GET", "/api/mail");
    let body: Value = serde_json::from_str(&list.body).unwrap();
    let waiting = body["outgoing"].as_array().unwrap();
    assert_eq!(waiting.len(), 1, "{body}");
    assert_eq!(
        (&waiting[0]["to"], &waiting[0]["error"]),
        (&"ana@example.com".into(), &"connection refused".into())
    );
    assert!(!list.body.contains("123456"), "{}", list.body);

    let retry = format!("/api/mail/{}/retry", waiting[0]["id"].as_str().unwrap());
    assert_eq!(console.page_as(&viewer, "POST", &retry).status, 403);
    assert_eq!(console.page_as(&admin, "POST", &retry).status, 204);
    let due = "select count(*) from _selvedge.selvedge_outgoing_mails where recipient like 'ana%' and next_try_at <= now()";
    assert_eq!(superuser.query_one(due, &[]).await.unwrap().get::<_, i64>(0), 1);
    assert_eq!(console.page_as(&admin, "POST", "/api/mail/999/retry").status, 404);
    let audit = console.page_as(&admin, "GET", "/api/audit?action=mail.retry");
    assert!(audit.body.contains("ana@example.com"), "{}", audit.body);
}
