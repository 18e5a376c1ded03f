//! Saved queries are files of the project in `start`.

use std::path::Path;

use reqwest::{Method, StatusCode};
use selvedge_console::ProjectFolder;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::TestConsole;

async fn start(project: &Path, read_only: bool) -> TestConsole {
    let folder = ProjectFolder::at_start(&project.join("snippets"));
    TestConsole::with(move |config| {
        config.snippets_folder = Some(folder);
        config.read_only = read_only;
    })
    .await
}

async fn save(console: &TestConsole, name: &str, text: &str) -> StatusCode {
    let request = console.request(Method::PUT, &format!("/api/sql/snippets/{name}"));
    let response = request.json(&json!({ "text": text })).send().await;
    response.expect("a response").status()
}

async fn read(console: &TestConsole, path: &str) -> (u16, Value) {
    let response = console.get(path).send().await.expect("a response");
    let status = response.status().as_u16();
    (status, response.json().await.expect("JSON"))
}

#[tokio::test]
async fn console_096_snippets_are_files_of_the_project_and_nothing_outside_of_their_folder() {
    let project = TempDir::new().expect("a folder");
    let folder = project.path().join("snippets");
    let console = start(project.path(), false).await;
    assert_eq!(read(&console, "/api/sql/snippets").await.1["snippets"], json!([]));

    assert_eq!(save(&console, "Orders%20of%20today", "select 'ä'").await, 204);
    assert_eq!(save(&console, "Orders%20of%20today", "select 2").await, 204);
    let text = std::fs::read_to_string(folder.join("Orders of today.sql")).expect("a file");
    assert_eq!(text, "select 2");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1);
    std::fs::write(folder.join("by hand.sql"), "select 3").expect("a file");
    std::fs::write(folder.join("notes.txt"), "no SQL").expect("a file");
    std::fs::write(project.path().join("config.sql"), "secret").expect("a file");
    std::os::unix::fs::symlink("../config.sql", folder.join("link.sql")).expect("a link");

    let (_, list) = read(&console, "/api/sql/snippets").await;
    let names: Vec<_> = list["snippets"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|snippet| snippet["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["Orders of today", "by hand"]);
    let (status, snippet) = read(&console, "/api/sql/snippets/by%20hand").await;
    assert_eq!((status, &snippet["text"]), (200, &json!("select 3")));

    for (name, expected) in [
        ("link", 404),
        ("..%2Fconfig", 422),
        (".hidden", 422),
        ("missing", 404),
    ] {
        let (status, body) = read(&console, &format!("/api/sql/snippets/{name}")).await;
        assert_eq!(status, expected, "{name}: {body}");
    }
    assert_eq!(save(&console, "..%2Fconfig", "drop").await, 422);
    // A link of the name is replaced by the file, so nothing is written through it.
    assert_eq!(save(&console, "link", "select 4").await, 204);
    let outside = std::fs::read_to_string(project.path().join("config.sql")).expect("a file");
    assert_eq!(outside, "secret");

    let response = console.delete("/api/sql/snippets/by%20hand").send().await;
    assert_eq!(response.expect("a response").status(), 204);
    assert!(!folder.join("by hand.sql").exists());
    let results = "select string_agg(result, ' ' order by id) from selvedge_console.selvedge_audit where action = 'sql.snippet.save'";
    assert_eq!(console.value(results).await, "started ok started ok started ok");

    let viewers = start(project.path(), true).await;
    assert_eq!(read(&viewers, "/api/sql/snippets/link").await.0, 200);
    assert_eq!(save(&viewers, "mine", "select 5").await, 403);
}

async fn save_over(console: &TestConsole, name: &str, text: &str, base: Value) -> StatusCode {
    let request = console.request(Method::PUT, &format!("/api/sql/snippets/{name}"));
    let response = request.json(&json!({ "text": text, "base": base })).send().await;
    response.expect("a response").status()
}

#[tokio::test]
async fn console_096_a_file_is_saved_over_the_text_that_was_read_and_no_other() {
    let project = TempDir::new().expect("a folder");
    let folder = project.path().join("snippets");
    let console = start(project.path(), false).await;
    let text = || std::fs::read_to_string(folder.join("one.sql")).expect("a file");
    assert_eq!(save_over(&console, "one", "select 1", Value::Null).await, 204);
    assert_eq!(save_over(&console, "one", "select 2", Value::Null).await, 409);
    let (_, read_first) = read(&console, "/api/sql/snippets/one").await;
    std::fs::write(folder.join("one.sql"), "of an editor").expect("a file");

    let refused = save_over(&console, "one", "select 3", read_first["digest"].clone()).await;
    assert_eq!((refused.as_u16(), text().as_str()), (409, "of an editor"));
    let (_, present) = read(&console, "/api/sql/snippets/one").await;
    let saves = ["a", "b", "c", "d"].map(|text| save_over(&console, "one", text, present["digest"].clone()));
    let outcomes = futures_util::future::join_all(saves).await;
    let done = outcomes.iter().filter(|status| **status == 204).count();
    assert_eq!(done, 1, "{outcomes:?}");

    // A file that is gone is nobody's text, and nothing is left beside the files.
    std::fs::remove_file(folder.join("one.sql")).expect("a file");
    assert_eq!(
        save_over(&console, "one", "select 4", present["digest"].clone()).await,
        409
    );
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0);
}

#[tokio::test]
async fn console_096_and_019_a_file_is_deleted_with_the_text_that_was_read_and_the_audit_tells_what_was_refused()
 {
    let project = TempDir::new().expect("a folder");
    let file = project.path().join("snippets/one.sql");
    let console = start(project.path(), false).await;
    assert_eq!(save_over(&console, "one", "select 1", Value::Null).await, 204);
    assert_eq!(save_over(&console, "one", "select 2", Value::Null).await, 409);
    let (_, read_first) = read(&console, "/api/sql/snippets/one").await;
    std::fs::write(&file, "of an editor").expect("a file");
    let delete = async |base: &Value| {
        let path = format!("/api/sql/snippets/one?base={}", base.as_str().expect("a digest"));
        let response = console.delete(&path).send().await;
        response.expect("a response").status().as_u16()
    };

    assert_eq!(delete(&read_first["digest"]).await, 409);
    assert!(file.exists());
    let (_, present) = read(&console, "/api/sql/snippets/one").await;
    assert_eq!(delete(&present["digest"]).await, 204);
    assert_eq!(delete(&present["digest"]).await, 404);
    assert!(!file.exists());

    let results = "select string_agg(split_part(action, '.', 3) || ' ' || result, ', ' order by id)
                   from selvedge_console.selvedge_audit where action like 'sql.snippet.%' and result <> 'started'";
    assert_eq!(
        console.value(results).await,
        "save ok, save refused, delete refused, delete ok, delete refused"
    );
}

#[tokio::test]
async fn console_096_a_link_in_the_place_of_the_folder_is_not_followed_while_the_server_runs() {
    let project = TempDir::new().expect("a folder");
    let elsewhere = TempDir::new().expect("a folder");
    std::fs::write(elsewhere.path().join("secret.sql"), "select 'secret'").expect("a file");
    let console = start(project.path(), false).await;
    assert_eq!(save(&console, "own", "select 1").await, 204);

    // A `git pull` may replace the folder by a link.
    std::fs::remove_dir_all(project.path().join("snippets")).expect("removed");
    std::os::unix::fs::symlink(elsewhere.path(), project.path().join("snippets")).expect("linked");
    let (listed, answer) = read(&console, "/api/sql/snippets").await;
    let (shown, _) = read(&console, "/api/sql/snippets/secret").await;
    let saved = save(&console, "mine", "select 2").await;

    assert_eq!((listed, shown, saved.as_u16()), (409, 409, 409), "{answer}");
    assert_eq!(std::fs::read_dir(elsewhere.path()).expect("a folder").count(), 1);
}
