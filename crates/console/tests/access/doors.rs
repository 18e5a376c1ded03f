//! Attacks with foreign hosts and origins, and every endpoint called without a session and as a viewer.

use std::time::{Duration, Instant};

use selvedge_console::{Access, Level, list_routes};

use super::support::{Answer, Console, PASSWORD};

#[tokio::test]
async fn console_010_162_other_doubled_and_absolute_hosts_are_refused_before_anything_is_read() {
    let console = Console::start_without_login().await;
    let port = console.port;
    let session = "Sec-Fetch-Site: same-origin\r\nX-Selvedge-Console: 1\r\nConnection: close\r\n\r\n";
    let status = |target: &str, hosts: &str| {
        let head = format!("GET {target} HTTP/1.1\r\n{hosts}{session}");
        console.raw(&head).status
    };
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        let line = format!("Host: {host}:{port}\r\n");
        assert_eq!(status("/api/session", &line), 200, "{host}");
    }
    for host in [
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        "localhost:1".to_owned(),
        format!("localhost.:{port}"),
        format!("127.0.0.1.nip.io:{port}"),
        format!("localhost.evil.example:{port}"),
    ] {
        let line = format!("Host: {host}\r\n");
        assert_eq!(status("/api/session", &line), 421, "{host}");
        assert_eq!(status("/", &line), 421, "the page, too: {host}");
    }
    let own = format!("Host: 127.0.0.1:{port}\r\n");
    let doubled = format!("{own}Host: evil.example\r\n");
    assert!(matches!(status("/api/session", &doubled), 400 | 421));
    assert!(matches!(
        status("http://evil.example/api/session", &own),
        400 | 421
    ));
    assert!(matches!(status("/api/session", ""), 400 | 421));
}

#[tokio::test]
async fn console_011_160_requests_of_other_pages_are_refused_also_those_that_only_read() {
    let console = Console::start_without_login().await;
    let port = console.port;
    let status = |method: &str, lines: &str| {
        let head = format!(
            "{method} /api/session HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n{lines}\r\n"
        );
        let answer = console.raw(&head);
        assert!(answer.header("access-control-allow-origin").is_none(), "{lines}");
        answer.status
    };
    let header = "X-Selvedge-Console: 1\r\n";
    let same = "Sec-Fetch-Site: same-origin\r\n";
    assert_eq!(status("GET", &format!("{header}{same}")), 200);
    let own = format!("{header}{same}Origin: http://localhost:{port}\r\n");
    assert_eq!(status("GET", &own), 200);
    for (name, lines) in [
        ("an image", "Sec-Fetch-Site: cross-site\r\n".to_owned()),
        ("an image without the headers of browsers", String::new()),
        (
            "a form of another port",
            format!("{header}Sec-Fetch-Site: same-site\r\n"),
        ),
        (
            "an address that was typed",
            format!("{header}Sec-Fetch-Site: none\r\n"),
        ),
        ("a page without the header", same.to_owned()),
        ("an empty header", format!("X-Selvedge-Console:\r\n{same}")),
        ("two headers", format!("{header}{header}{same}")),
        (
            "another origin",
            format!("{header}{same}Origin: http://localhost:1\r\n"),
        ),
        ("a sandboxed frame", format!("{header}{same}Origin: null\r\n")),
        (
            "SQL of another project",
            format!("{header}{same}X-Selvedge-Sender: sql\r\n"),
        ),
    ] {
        for method in ["GET", "POST", "DELETE"] {
            assert_eq!(status(method, &lines), 403, "{method} of {name}");
        }
    }
    let socket = format!(
        "{header}{same}Origin: http://evil.example\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\
                          Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    );
    assert!(status("GET", &socket) >= 400);
    assert!(
        status(
            "OPTIONS",
            "Origin: http://evil.example\r\nAccess-Control-Request-Method: GET\r\n"
        ) >= 400
    );
}

#[tokio::test]
async fn console_012_161_nobody_frames_or_opens_the_console_and_answers_are_not_kept() {
    let console = Console::start_without_login().await;
    for path in ["/", "/api/session", "/api/nothing", "/assets/none.js"] {
        let answer = console.page("GET", path, "X-Selvedge-Console: 1\r\n", "");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
        if path.starts_with("/api") {
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        }
    }
    let nonce = || {
        let answer = console.page("GET", "/", "", "");
        let policy = answer.header("content-security-policy").unwrap().to_owned();
        policy
            .split("'nonce-")
            .nth(1)
            .unwrap()
            .split('\'')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_ne!(nonce(), nonce());
}

/// Ways to write the address of an endpoint that a check and the router could read differently.
fn spell(path: &str, port: u16) -> Vec<String> {
    let encode = |text: &str| {
        text.bytes()
            .map(|byte| format!("%{byte:02x}"))
            .collect::<String>()
    };
    let below = path.strip_prefix("/api/").expect("a path of the API");
    let last = path.rsplit('/').next().expect("a path has a segment");
    let folder = &path[..path.len() - last.len()];
    vec![
        path.to_owned(),
        format!("/%61pi/{below}"),
        format!("/ap%69/{below}"),
        format!("/{}/{below}", encode("api")),
        format!("/%41PI/{below}"),
        format!("/API/{below}"),
        format!("{folder}{}", encode(last)),
        format!("/%2561pi/{below}"),
        format!("/api%2f{below}"),
        format!("%2fapi/{below}"),
        format!("/{path}"),
        format!("/api//{below}"),
        format!("/./api/{below}"),
        format!("/assets/../api/{below}"),
        format!("/assets/%2e%2e/api/{below}"),
        format!("/api/./{below}"),
        format!("/api;/{below}"),
        format!("{path};x"),
        format!("{path}/"),
        format!("{path}%00"),
        format!("{path}?x=1"),
        format!("http://127.0.0.1:{port}{path}"),
        format!("http://127.0.0.1:{port}/%61pi/{below}"),
    ]
}

#[tokio::test]
async fn console_182_and_170_every_spelling_of_every_endpoint_is_closed_to_nobody_and_viewers() {
    let console = Console::start().await;
    let viewer = console.sign_in("vera");
    let admin = console.sign_in("adam");
    let header = "X-Selvedge-Console: 1\r\n";
    let own_header = format!("Cookie: {}\r\n", admin.cookie);
    let foreign = format!(
        "Cookie: {}\r\nX-Selvedge-Console: {}\r\nOrigin: http://evil.example\r\n",
        admin.cookie, admin.secret
    );
    // Every other address is a screen of the page, the only document whose policy has a nonce.
    let is_page = |answer: &Answer| {
        let policy = answer.header("content-security-policy");
        answer.status == 200 && policy.is_some_and(|policy| policy.contains("'nonce-"))
    };
    let mut unguarded = Vec::new();
    for (method, pattern, access) in list_routes() {
        let path = pattern
            .replace("{service}", "rest")
            .replace("{path:.*}", "x")
            .split('/')
            .map(|part| if part.starts_with('{') { "1" } else { part })
            .collect::<Vec<_>>()
            .join("/");
        for target in spell(&path, console.port) {
            // A handler that ran would answer with 200, or with what it thinks of the request: 405, 415, 422, 500.
            let mut check = |who: &str, answer: Answer, refusals: &[u16]| {
                if !refusals.contains(&answer.status) && !is_page(&answer) {
                    unguarded.push(format!("{method} {target} as {who}: {}", answer.status));
                }
            };
            check(
                "another page",
                console.page(&method, &target, &foreign, ""),
                &[400, 403, 404],
            );
            if access == Access::Open {
                continue;
            }
            check(
                "nobody",
                console.page(&method, &target, header, ""),
                &[400, 401, 404],
            );
            // Only a download is started without the page's second secret; it needs a ticket instead.
            if access != Access::Ticket {
                check(
                    "a cookie alone",
                    console.page(&method, &target, &own_header, ""),
                    &[400, 403, 404],
                );
            }
            if access == Access::From(Level::Admin) {
                check(
                    "viewer",
                    console.page_as(&viewer, &method, &target),
                    &[400, 403, 404],
                );
            }
        }
    }
    assert!(unguarded.is_empty(), "{unguarded:#?}");
    for path in [
        "/api/accounts",
        "/%61pi/accounts",
        "/api/audit",
        "/api/mail",
        "/api/logs",
        "/api/series",
    ] {
        assert_eq!(console.page_as(&admin, "GET", path).status, 200, "{path}");
    }
    for path in ["/api/logs", "/api/series"] {
        assert_eq!(console.page_as(&viewer, "GET", path).status, 200, "{path}");
    }
    assert_eq!(console.page_as(&viewer, "GET", "/%61pi/accounts").status, 403);
}

/// Returns the key of the console's project, as the page learns it.
fn project_key(console: &Console) -> String {
    let answer = console.page("GET", "/api/session", "X-Selvedge-Console: 1\r\n", "");
    let body: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
    body["project"]["key"].as_str().expect("a key").to_owned()
}

#[tokio::test]
async fn console_033_a_page_of_another_project_reads_and_changes_nothing_here() {
    let console = Console::start().await;
    let admin = console.sign_in("adam");
    let own = project_key(&console);
    let other = project_key(&Console::start().await);
    assert_ne!(own, other);
    let as_admin = |method: &str, path: &str, projects: &[&str]| {
        let mut lines = format!(
            "Cookie: {}\r\nX-Selvedge-Console: {}\r\n",
            admin.cookie, admin.secret
        );
        for project in projects {
            lines += &format!("X-Selvedge-Project: {project}\r\n");
        }
        console.page(method, path, &lines, "{}")
    };

    for (method, path, access) in &list_routes() {
        let reads_session = *path == "/api/session" && method == "GET";
        if *access == Access::Ticket || reads_session || method == "HEAD" {
            continue;
        }
        let answer = as_admin(method, path, &[&other]);
        assert_eq!(answer.status, 409, "{method} {path}: {}", answer.body);
        assert!(answer.body.contains("\"other_project\""), "{}", answer.body);
    }
    assert_eq!(as_admin("GET", "/api/accounts", &[&own]).status, 200);
    assert_eq!(as_admin("GET", "/api/session", &[&other]).status, 200);
    assert_eq!(as_admin("GET", "/api/accounts", &[&own, &other]).status, 409);
    assert_eq!(as_admin("GET", "/api/accounts", &[""]).status, 409);
    // Without a session, too: nobody is asked for the password of another project.
    let lines = format!("X-Selvedge-Console: 1\r\nX-Selvedge-Project: {other}\r\n");
    assert_eq!(console.page("POST", "/api/sql/runs", &lines, "{}").status, 409);
    assert_eq!(
        console
            .try_sign_in("adam", PASSWORD, &format!("X-Selvedge-Project: {other}\r\n"))
            .status,
        409
    );
}

#[tokio::test]
async fn console_033_projects_differ_also_where_the_cluster_keeps_its_identifier_to_itself() {
    let console = Console::start().await;
    let own = project_key(&console);
    let superuser = console.database.superuser().await;
    superuser
        .batch_execute("revoke execute on function pg_control_system() from public")
        .await
        .unwrap();
    // The key is read again after some seconds.
    let deadline = Instant::now() + Duration::from_secs(60);
    while project_key(&console) == own {
        assert!(Instant::now() < deadline, "the key stays");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }

    assert_eq!(project_key(&console).len(), own.len());
}
