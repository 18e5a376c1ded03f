//! What is broken or hostile answers 4xx in the contract's shape, and the server lives on.

use crate::support::{ANA, TestApp};

#[actix_web::test]
async fn rest_078_hostile_queries_are_refused_and_the_server_lives_on() {
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
        let answer = anon.get(&format!("/posts?{query}")).await;

        assert!(
            (400..500).contains(&answer.status),
            "{query:.60}: {} {}",
            answer.status,
            answer.text
        );
        assert!(answer.json()["message"].is_string(), "{query:.60}");
    }
    assert_eq!(anon.get("/posts?select=id&id=eq.1").await.status, 200);
}

#[actix_web::test]
async fn rest_078_a_url_of_a_megabyte_is_refused() {
    let app = TestApp::blog().await;

    let answer = reqwest::get(format!("{}/posts?title=eq.{}", app.url, "x".repeat(1 << 20))).await;

    // the HTTP layer may answer, or just close the connection
    assert!(answer.is_err() || answer.is_ok_and(|answer| answer.status().is_client_error()));
    assert_eq!(app.anon().get("/posts").await.status, 200);
}

#[actix_web::test]
async fn rest_043_hostile_bodies_are_refused_and_the_server_lives_on() {
    let app = TestApp::blog().await;
    let ana = app.user(ANA);
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let large = format!("{{\"id\": 1, \"name\": \"{}\"}}", "x".repeat(17 * 1024 * 1024));

    for (body, content_type) in [
        (deep.as_str(), "application/json"),
        (large.as_str(), "application/json"),
        ("{\"id\": 1, \"name\": \"\\ud800\"}", "application/json"),
        ("{\"id\": 1, \"name\": \"\\u0000\"}", "application/json"),
        ("nonsense", "application/json"),
        ("<xml/>", "application/xml"),
        ("a,b\n1\n2,3", "text/csv"),
    ] {
        let answer = ana
            .send(
                "POST",
                "/tags",
                &[("content-type", content_type)],
                Some(body.to_owned()),
            )
            .await;

        assert!(
            (400..500).contains(&answer.status),
            "{body:.40}: {} {}",
            answer.status,
            answer.text
        );
        assert!(answer.json()["message"].is_string());
    }
    assert_eq!(app.anon().get("/tags").await.status, 200);
}
