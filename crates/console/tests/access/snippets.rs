//! Saved queries of an account are closed to all others.

use serde_json::Value;

use super::support::{Console, SignedIn};

const SNIPPET: &str = "/api/sql/snippets/Orders";

fn send(console: &Console, session: &SignedIn, method: &str, path: &str, body: &str) -> (u16, Value) {
    let lines = format!(
        "Cookie: {}\r\nX-Selvedge-Console: {}\r\n",
        session.cookie, session.secret
    );
    let answer = console.page(method, path, &lines, body);
    (
        answer.status,
        serde_json::from_str(&answer.body).unwrap_or(Value::Null),
    )
}

#[tokio::test]
async fn console_096_nobody_reads_or_changes_the_snippets_of_another_account() {
    let console = Console::start().await;
    let (vera, adam) = (console.sign_in("vera"), console.sign_in("adam"));

    let text = r#"{"text": "select 1"}"#;
    assert_eq!(send(&console, &vera, "PUT", SNIPPET, text).0, 204);
    assert_eq!(send(&console, &adam, "GET", SNIPPET, "").0, 404);
    assert_eq!(send(&console, &adam, "DELETE", SNIPPET, "").0, 404);
    assert_eq!(
        send(&console, &adam, "PUT", SNIPPET, r#"{"text": "drop"}"#).0,
        204
    );
    let (_, snippet) = send(&console, &vera, "GET", SNIPPET, "");
    assert_eq!(snippet["text"], "select 1");
    let (_, list) = send(&console, &vera, "GET", "/api/sql/snippets", "");
    assert_eq!(list["snippets"].as_array().map(Vec::len), Some(1));
    assert_eq!(list["snippets"][0]["text"], Value::Null);

    // No login that runs SQL for accounts or the API may write the snippets, and only the admins' login may read those of
    // others.
    for role in [
        "selvedge_console_reader",
        "selvedge_console_operator",
        "authenticator",
    ] {
        let client = console.database.connect(role).await;
        for statement in [
            "select text from selvedge_console.selvedge_snippets",
            "insert into selvedge_console.selvedge_snippets values ('adam', 'x', 'y')",
            "update selvedge_console.selvedge_snippets set account = 'adam'",
            "delete from selvedge_console.selvedge_snippets",
        ] {
            if role == "selvedge_console_operator" && statement.starts_with("select") {
                continue;
            }
            let outcome = client.batch_execute(statement).await;
            let error = outcome.expect_err(&format!("{role}: {statement}"));
            let code = error.code().map(|code| code.code());
            assert_eq!(code, Some("42501"), "{role}: {statement}");
        }
    }

    assert_eq!(send(&console, &vera, "DELETE", SNIPPET, "").0, 204);
    assert_eq!(send(&console, &vera, "GET", SNIPPET, "").0, 404);
}

#[tokio::test]
async fn console_096_a_row_is_saved_over_the_text_that_was_read_and_no_other() {
    let console = Console::start().await;
    let vera = console.sign_in("vera");
    let save = |text: &str, base: &Value| {
        let body = serde_json::json!({ "text": text, "base": base }).to_string();
        send(&console, &vera, "PUT", SNIPPET, &body)
    };
    let present = || send(&console, &vera, "GET", SNIPPET, "").1;

    assert_eq!(save("select 'ä'", &Value::Null).0, 204);
    let (status, refusal) = save("select 2", &Value::Null);
    assert_eq!((status, &refusal["code"]), (409, &"conflict".into()));
    let digest = present()["digest"].clone();
    assert_eq!(save("of the other window", &digest).0, 204);
    assert_eq!(save("select 3", &digest).0, 409);
    assert_eq!(present()["text"], "of the other window");
    assert_eq!(save("select 3", &present()["digest"]).0, 204);
    assert_eq!(present()["text"], "select 3");
}

#[tokio::test]
async fn console_096_and_019_a_row_is_deleted_with_the_text_that_was_read_and_the_audit_tells_what_was_refused()
 {
    let console = Console::start().await;
    let vera = console.sign_in("vera");
    let save = |text: &str, base: &Value| {
        let body = serde_json::json!({ "text": text, "base": base }).to_string();
        send(&console, &vera, "PUT", SNIPPET, &body).0
    };
    let digest = || send(&console, &vera, "GET", SNIPPET, "").1["digest"].clone();
    let delete = |digest: &Value| {
        let path = format!("{SNIPPET}?base={}", digest.as_str().expect("a digest"));
        send(&console, &vera, "DELETE", &path, "").0
    };

    assert_eq!(save("select 'ä'", &Value::Null), 204);
    let read_first = digest();
    assert_eq!(save("of the other window", &read_first), 204);
    assert_eq!(save("select 3", &read_first), 409);
    assert_eq!(delete(&read_first), 409);
    assert_eq!(delete(&digest()), 204);
    assert_eq!(delete(&read_first), 404);

    let superuser = console.database.superuser().await;
    let rows = superuser
        .query(
            "select split_part(action, '.', 3) || ' ' || result from selvedge_console.selvedge_audit
             where action like 'sql.snippet.%' order by id",
            &[],
        )
        .await
        .expect("entries");
    let results: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(
        results,
        [
            "save ok",
            "save ok",
            "save refused",
            "delete refused",
            "delete ok",
            "delete refused"
        ]
    );
}

#[tokio::test]
async fn console_096_an_account_cannot_fill_the_database_with_snippets() {
    let console = Console::start().await;
    let vera = console.sign_in("vera");
    let superuser = console.database.superuser().await;
    superuser
        .batch_execute(
            "insert into selvedge_console.selvedge_snippets (account, name, text)
             select 'vera', 'snippet ' || n, '' from generate_series(1, 500) n",
        )
        .await
        .expect("500 snippets");

    let text = r#"{"text": "select 1"}"#;
    let (status, body) = send(&console, &vera, "PUT", SNIPPET, text);
    assert_eq!(status, 422, "{body}");
    let known = "/api/sql/snippets/snippet%207";
    assert_eq!(send(&console, &vera, "PUT", known, text).0, 204);
    let long = format!(r#"{{"text": "{}"}}"#, "x".repeat(1_000_000 + 1));
    assert_eq!(send(&console, &vera, "PUT", known, &long).0, 422);
}
