//! Function calls: arguments, overloads, results, raised errors.

use serde_json::json;

use crate::support::{ANA, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_063_064_arguments_come_from_the_body_or_the_query_string() {
    let app = TestApp::blog().await;
    let anon = app.anon();

    assert_eq!(anon.post("/rpc/add", &json!({ "a": 1, "b": 2 })).await.text, "3");
    assert_eq!(anon.post("/rpc/add", &json!({ "a": 1 })).await.text, "11");
    assert_eq!(anon.get("/rpc/add?a=5&b=6").await.text, "11");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_065_a_set_is_an_array_and_void_is_204() {
    let app = TestApp::blog().await;

    let rows = app
        .anon()
        .get("/rpc/posts_of?writer=ana&select=id&order=id")
        .await;
    let nothing = app.user(ANA).post("/rpc/touch", &json!({ "p": 1 })).await;

    assert_eq!(rows.json(), json!([{ "id": 1 }, { "id": 2 }]));
    assert_eq!(
        (
            nothing.status,
            nothing.text.as_str(),
            nothing.header("content-type")
        ),
        (204, "", None)
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_066_unknown_functions_and_arguments_get_a_hint() {
    let app = TestApp::blog().await;

    let name = app.anon().get("/rpc/posts_off").await;
    let arguments = app.anon().get("/rpc/add?b=1").await;

    assert_eq!((name.status, name.code().as_str()), (404, "PGRST202"));
    assert_eq!(
        name.json()["hint"],
        "Perhaps you meant to call the function public.posts_of"
    );
    assert_eq!(
        arguments.json()["message"],
        "Could not find the function public.add(b) in the schema cache"
    );
    assert_eq!(
        arguments.json()["hint"],
        "Perhaps you meant to call the function public.add(a, b)"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_067_overloads_with_the_same_argument_names_are_ambiguous() {
    let app = TestApp::blog().await;

    let response = app.anon().post("/rpc/pick", &json!({ "a": 1 })).await;

    assert_eq!((response.status, response.code().as_str()), (300, "PGRST203"));
    assert!(
        response.json()["message"]
            .as_str()
            .unwrap()
            .ends_with("public.pick(a => integer), public.pick(a => text)")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_068_results_of_functions_can_be_embedded_filtered_and_counted() {
    let app = TestApp::blog().await;

    let response = app
        .anon()
        .send(
            "POST",
            "/rpc/posts_of?select=id,comments(id)&status=eq.published&comments.order=id",
            &[("prefer", "count=exact")],
            Some(json!({ "writer": "ana" }).to_string()),
        )
        .await;

    assert_eq!(
        response.json(),
        json!([{ "id": 1, "comments": [{ "id": 1 }, { "id": 2 }] }])
    );
    assert_eq!(response.header("content-range"), Some("0-0/1"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_005_071_get_runs_read_only_and_post_of_a_volatile_function_does_not() {
    let app = TestApp::blog().await;

    let get = app.user(ANA).get("/rpc/touch?p=1").await;
    let read_only = app.anon().get("/rpc/settings").await.json();
    let writable = app.anon().post("/rpc/settings", &json!({})).await.json();
    let method = app.anon().send("DELETE", "/rpc/add", &[], None).await;

    assert_eq!((get.status, get.code().as_str()), (405, "25006"));
    assert_eq!(
        (&read_only["read_only"], &writable["read_only"]),
        (&json!("on"), &json!("off"))
    );
    assert_eq!((method.status, method.code().as_str()), (405, "PGRST101"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_074_075_raised_errors_keep_their_message_details_and_hint() {
    let app = TestApp::blog().await;

    let plain = app.anon().post("/rpc/fail", &json!({ "state": "P0001" })).await;
    let teapot = app.anon().post("/rpc/fail", &json!({ "state": "PT418" })).await;

    assert_eq!(plain.status, 400);
    assert_eq!(
        plain.json(),
        json!({ "code": "P0001", "message": "made to fail", "details": "on purpose", "hint": "do not" })
    );
    assert_eq!(plain.header("proxy-status"), Some("PostgREST; error=P0001"));
    assert_eq!(teapot.status, 418);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_076_functions_choose_status_and_headers() {
    let app = TestApp::blog().await;

    let response = app.anon().post("/rpc/teapot", &json!({})).await;

    assert_eq!(
        (response.status, response.text.as_str()),
        (418, "\"short and stout\"")
    );
    assert_eq!(
        (response.header("x-tea"), response.header("cache-control")),
        (Some("green"), Some("no-store"))
    );
    // Without a length, clients wait for the end of the connection.
    let response = app.anon().post("/rpc/accepted", &json!({})).await;
    assert_eq!(
        (response.status, response.header("content-length")),
        (202, Some("0"))
    );
}
