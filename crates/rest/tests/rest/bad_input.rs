//! Malformed and hostile requests: each is refused with 4xx in PostgREST's shape, and the server keeps serving.

use crate::support::{ANA, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_078_hostile_queries_are_refused_and_the_server_keeps_serving() {
    let app = TestApp::blog().await;
    let anon = app.anon();
    let many_filters: String = (0..6_000).map(|n| format!("id=eq.{n}&")).collect();
    let parentheses = format!("or={}id.eq.1{}", "(or".repeat(200), ")".repeat(200));
    let embeds = format!("select={}id{}", "comments(".repeat(200), ")".repeat(200));

    for query in [
        many_filters.as_str(),
        parentheses.as_str(),
        embeds.as_str(),
        "title=eq.%FF%FE",
        "title=eq.%00",
        "%00=eq.1",
        "select=%22%00%22",
        "select=id::text%20from%20pg_authid",
        "order=id%3Bdrop%20table%20posts",
        "id=in.(1",
        "id=in.(\"",
        "or=(id.eq.1",
        "limit=-1",
    ] {
        let response = anon.get(&format!("/posts?{query}")).await;

        assert!(
            (400..500).contains(&response.status),
            "{query:.60}: {} {}",
            response.status,
            response.text
        );
        assert!(response.json()["message"].is_string(), "{query:.60}");
    }
    assert_eq!(anon.get("/posts?select=id&id=eq.1").await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_078_errors_of_the_http_layer_have_postgrests_shape() {
    let app = TestApp::blog().await;
    let many_headers = "X-A: b\r\n".repeat(200);

    for (head, status) in [
        (
            format!("GET /rest/v1/posts?title=eq.{} HTTP/1.1", "x".repeat(1 << 20)),
            414,
        ),
        (
            format!("GET /rest/v1/posts?{} HTTP/1.1", "id=eq.1&".repeat(10_000)),
            414,
        ),
        (
            format!("GET /rest/v1/posts HTTP/1.1\r\nX-A: {}", "x".repeat(1 << 20)),
            431,
        ),
        (
            format!("GET /rest/v1/posts HTTP/1.1\r\n{many_headers}X-A: b"),
            431,
        ),
        ("GET /rest/v1/posts\0 HTTP/1.1".to_owned(), 400),
        ("GET /rest/v1/posts HTTP/1.1\r\nno header".to_owned(), 400),
    ] {
        let response = app.raw(head.as_bytes()).await;

        let (top, body) = response.split_once("\r\n\r\n").expect("a whole response");
        assert!(
            top.starts_with(&format!("HTTP/1.1 {status}")),
            "{head:.60}: {top}"
        );
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        assert_eq!(body["code"], "PGRST100", "{head:.60}");
    }
    assert_eq!(app.anon().get("/posts").await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_078_bytes_that_are_not_utf8_are_refused() {
    let app = TestApp::blog().await;

    for (head, status) in [
        (&b"GET /rest/v1/posts?title=eq.\xff HTTP/1.1"[..], 400),
        (b"GET /rest/v1/\xff HTTP/1.1", 400),
        (b"GET /rest/v1/%ff HTTP/1.1", 404),
        (b"GET /rest/v1/rpc/%ff HTTP/1.1", 404),
        (b"GET /rest/v1/posts HTTP/1.1\r\nAccept: \xff/\xff", 406),
        (b"GET /rest/v1/posts HTTP/1.1\r\nAccept-Profile: \xff", 406),
        (b"GET /rest/v1/posts HTTP/1.1\r\nAuthorization: Bearer \xff", 401),
        (
            b"GET /rest/v1/posts HTTP/1.1\r\nPrefer: handling=strict, \xff",
            400,
        ),
        (
            b"POST /rest/v1/posts HTTP/1.1\r\nContent-Type: \xff\r\nContent-Length: 0",
            400,
        ),
    ] {
        let response = app.raw(head).await;

        let shown = String::from_utf8_lossy(head);
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status}")),
            "{shown}: {response}"
        );
        assert!(response.contains("\"message\""), "{shown}: {response}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_018_characters_that_curl_does_not_encode_are_accepted() {
    let app = TestApp::blog().await;

    for (target, expected) in [
        ("/posts?select=data->>n&id=eq.1", r#"[{"n":"1"}]"#),
        (
            "/posts?select=id&or=(title.eq.\"First\",title.eq.\"Größe\")",
            r#"[{"id":1}]"#,
        ),
        ("/posts?select=id&id=in.(\"1\")", r#"[{"id":1}]"#),
        ("/tags?select=name&name=eq.Größe", "[]"),
    ] {
        let response = app.raw(format!("GET /rest/v1{target} HTTP/1.1").as_bytes()).await;

        assert!(response.ends_with(expected), "{target}: {response}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_078_too_many_columns_embeds_or_parameters_are_refused() {
    let app = TestApp::blog().await;
    let anon = app.anon();
    let embeds: Vec<String> = (0..101).map(|n| format!("a{n}:comments(id)")).collect();

    for query in [
        format!("select={}", "id,".repeat(1_700) + "id"),
        format!("select={}", embeds.join(",")),
        format!("select=data{}", "-%3Ea".repeat(129)),
        format!("data{}=eq.1", "-%3Ea".repeat(129)),
        "id=eq.1&".repeat(501),
    ] {
        let response = anon.get(&format!("/posts?{query}")).await;

        assert_eq!(
            (response.status, response.code().as_str()),
            (400, "PGRST100"),
            "{query:.60}"
        );
    }
    let wide = anon
        .get(&format!(
            "/posts?select=id&id=eq.1&or=({}id.eq.1)",
            "id.eq.1,".repeat(5_000)
        ))
        .await;
    assert_eq!(wide.text, r#"[{"id":1}]"#);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_043_hostile_bodies_are_refused_and_the_server_keeps_serving() {
    let app = TestApp::blog().await;
    let ana = app.user(ANA);
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_value = format!("{{\"id\": 1, \"name\": {}1{}}}", "[".repeat(200), "]".repeat(200));
    let large = format!("{{\"id\": 1, \"name\": \"{}\"}}", "x".repeat(17 * 1024 * 1024));

    for (body, content_type) in [
        (deep.as_str(), "application/json"),
        (deep_value.as_str(), "application/json"),
        (large.as_str(), "application/json"),
        ("{\"id\": 1, \"name\": \"\\ud800\"}", "application/json"),
        ("{\"id\": 1, \"name\": \"\\u0000\"}", "application/json"),
        ("nonsense", "application/json"),
        ("<xml/>", "application/xml"),
        ("a,b\n1\n2,3", "text/csv"),
    ] {
        let headers = [("content-type", content_type)];
        let columns = ana.send("POST", "/tags?columns=id,name", &headers, Some(body.to_owned()));
        assert!((400..500).contains(&columns.await.status), "{body:.40}");
        let response = ana
            .send(
                "POST",
                "/tags",
                &[("content-type", content_type)],
                Some(body.to_owned()),
            )
            .await;

        assert!(
            (400..500).contains(&response.status),
            "{body:.40}: {} {}",
            response.status,
            response.text
        );
        assert!(response.json()["message"].is_string());
    }
    assert_eq!(app.anon().get("/tags").await.status, 200);
}
