//! The wide schema: functions, computed relationships, aggregates, partitions, domains and media type handlers.

use serde_json::{Value, json};

use crate::wide_schema::{expect_rows, start_wide_schema, start_with_aggregates};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_069_a_single_unnamed_parameter_takes_the_whole_body() {
    let app = start_wide_schema().await;
    let send = async |function: &str, content_type: &str, body: &str| {
        let headers = [("content-type", content_type)];
        app.anon()
            .send(
                "POST",
                &format!("/rpc/{function}"),
                &headers,
                Some(body.to_owned()),
            )
            .await
    };

    let json = send("whole", "application/json", r#"{"a": [1, {"b": null}]}"#).await;
    let array = send("whole", "application/json", "[1,2]").await;
    let text = send("words", "text/plain", "three short words").await;
    let xml = send("root_of", "text/xml", "<a><b/></a>").await;
    let bytes = send("size_of", "application/octet-stream", "12345").await;
    let wrong = send("words", "text/xml", "<a/>").await;

    assert_eq!(json.json(), json!({ "a": [1, { "b": null }] }));
    assert_eq!(
        array.status, 400,
        "an array of scalars has no keys to name arguments by: {}",
        array.text
    );
    assert_eq!((text.status, text.text.as_str()), (200, "3"));
    assert_eq!((xml.status, xml.text.as_str()), (200, "\"a\""));
    assert_eq!((bytes.status, bytes.text.as_str()), (200, "5"));
    assert_eq!((wrong.status, wrong.code().as_str()), (404, "PGRST202"));
    assert_eq!(
        wrong.json()["details"],
        "Searched for the function public.words with a single unnamed xml parameter, but no matches were found in the \
         schema cache."
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_070_variadic_and_array_arguments() {
    let app = start_wide_schema().await;
    let anon = app.anon();

    for path in ["/rpc/total?numbers=1&numbers=2&numbers=3", "/rpc/total?numbers=6"] {
        assert_eq!(anon.get(path).await.text, "6", "{path}");
    }
    assert_eq!(anon.get("/rpc/total").await.text, "0");
    assert_eq!(
        anon.post("/rpc/total", &json!({ "numbers": [1, 2, 3] }))
            .await
            .text,
        "6"
    );
    assert_eq!(anon.post("/rpc/total", &json!({})).await.text, "0");
    assert_eq!(
        anon.get("/rpc/longest?names={a,\"b,c\",dd}").await.text,
        "\"b,c\""
    );
    assert_eq!(
        anon.post("/rpc/longest", &json!({ "names": ["a", "b,c"] }))
            .await
            .text,
        "\"b,c\""
    );
    assert_eq!(
        anon.post("/rpc/longest", &json!({ "names": "{a,bb}" }))
            .await
            .text,
        "\"bb\""
    );
    // If a parameter that is not VARIADIC has several values, the last one is used.
    assert_eq!(anon.get("/rpc/longest?names={aaa}&names={b}").await.text, "\"b\"");
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let by_form = anon
        .send(
            "POST",
            "/rpc/total",
            &form,
            Some("numbers=4&numbers=5".to_owned()),
        )
        .await;
    assert_eq!(by_form.text, "9");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_071_only_volatile_functions_called_by_post_may_write() {
    let app = start_wide_schema().await;
    let anon = app.anon();

    assert_eq!(anon.post("/rpc/mode", &json!({})).await.text, "\"on\"");
    assert_eq!(anon.post("/rpc/mode_volatile", &json!({})).await.text, "\"off\"");
    assert_eq!(anon.get("/rpc/mode_volatile").await.text, "\"on\"");
    for method in ["PUT", "PATCH", "DELETE"] {
        let response = anon.send(method, "/rpc/mode", &[], None).await;

        assert_eq!(
            (response.status, response.code().as_str()),
            (405, "PGRST101"),
            "{method}"
        );
        assert_eq!(
            response.json()["message"],
            format!("Cannot use the {method} method on RPC")
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_107_computed_relationships_embed_filter_sort_and_spread() {
    let app = start_wide_schema().await;

    expect_rows(
        &app,
        &[
            ("/paintings?select=id,neighbours(id)&id=lte.3&order=id", json!([
                { "id": 1, "neighbours": [{ "id": 2 }] }, { "id": 2, "neighbours": [{ "id": 1 }] }, { "id": 3, "neighbours": [] }])),
            ("/rooms?select=first_hung(title),painters(name)&order=id", json!([
                { "first_hung": { "title": "Harbour" }, "painters": [{ "name": "Vera" }] },
                { "first_hung": { "title": "Cat" }, "painters": [{ "name": "Ilse" }] }])),
            ("/rooms?select=id,...first_hung(title,age)&id=eq.1", json!([{ "id": 1, "title": "Harbour", "age": 124 }])),
            ("/rooms?select=id,first_hung!inner()&first_hung.title=eq.Cat", json!([{ "id": 2 }])),
            ("/rooms?select=id,first_hung(title)&order=first_hung(title)", json!([
                { "id": 2, "first_hung": { "title": "Cat" } }, { "id": 1, "first_hung": { "title": "Harbour" } }])),
            ("/paintings?select=neighbours(neighbours(id))&id=eq.1", json!([{ "neighbours": [{ "neighbours": [{ "id": 1 }] }] }])),
        ],
    )
    .await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_111_aggregates_group_by_the_other_columns() {
    let app = start_with_aggregates().await;

    expect_rows(
        &app,
        &[
            ("/paintings?select=count()", json!([{ "count": 4 }])),
            ("/paintings?select=year,count(),first:id.min()&year=not.is.null&order=year", json!([
                { "year": 1900, "count": 1, "first": 1 }, { "year": 1910, "count": 2, "first": 2 }])),
            ("/paintings?select=total:year.sum()::text,year.avg()::int,year.max()", json!([{ "total": "5720", "avg": 1907, "max": 1910 }])),
            ("/paintings?select=frame->>material,facts->sizes->0->>w::int.sum()&id=eq.1", json!([{ "material": "oak", "sum": 10 }])),
            ("/artists?select=name,paintings(count(),year.max())&order=id", json!([
                { "name": "Vera", "paintings": [{ "count": 2, "max": 1910 }] }, { "name": "Ilse", "paintings": [{ "count": 1, "max": 1910 }] }])),
            (
                "/paintings?select=artists(name),count()&artist_id=eq.1",
                json!([{ "artists": { "name": "Vera" }, "count": 2 }]),
            ),
            ("/paintings?select=...artists(name),year.sum()&artist_id=eq.1", json!([{ "name": "Vera", "sum": 3810 }])),
            // An embed inside of a spread is grouped by, too.
            ("/labels?select=...paintings(rooms(name),year.sum())&painting_id=eq.1", json!([{ "rooms": { "name": "East" }, "sum": 1900 }])),
        ],
    )
    .await;
    let to_many = app.anon().get("/artists?select=...paintings(year.sum())").await;
    assert_eq!((to_many.status, to_many.code().as_str()), (400, "PGRST127"));
    let disabled = start_wide_schema()
        .await
        .anon()
        .get("/paintings?select=year.sum()")
        .await;
    assert_eq!((disabled.status, disabled.code().as_str()), (400, "PGRST123"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_112_partitions_are_hidden_and_materialised_views_refuse_writes() {
    let app = start_wide_schema().await;
    let anon = app.anon();

    expect_rows(
        &app,
        &[
            (
                "/visits?select=guests&order=day",
                json!([{ "guests": 10 }, { "guests": 20 }]),
            ),
            (
                "/catalogue?select=title,artists(name)&id=eq.3",
                json!([{ "title": "Cat", "artists": { "name": "Ilse" } }]),
            ),
        ],
    )
    .await;
    let partition = anon.get("/visits_2024").await;
    assert_eq!((partition.status, partition.code().as_str()), (404, "PGRST205"));
    let insert = anon
        .post("/visits", &json!({ "day": "2024-04-01", "guests": 1 }))
        .await;
    assert_eq!(insert.status, 201, "{}", insert.text);
    let refused = anon.post("/catalogue", &json!({ "id": 9 })).await;
    assert!((400..500).contains(&refused.status), "{}", refused.text);
    let options = anon.send("OPTIONS", "/catalogue", &[], None).await;
    assert_eq!(options.header("allow"), Some("OPTIONS,GET,HEAD"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_113_domain_representations_apply_to_reads_writes_and_filters() {
    let app = start_wide_schema().await;
    let anon = app.anon();

    expect_rows(
        &app,
        &[
            ("/rooms?select=wall&id=eq.1", json!([{ "wall": "#0000FF" }])),
            ("/rooms?select=id&wall=eq.%23FF0000", json!([{ "id": 2 }])),
            (
                "/rooms?select=id&wall=in.(%23FF0000,%230000FF)&order=id",
                json!([{ "id": 1 }, { "id": 2 }]),
            ),
            ("/rooms?select=id&wall=not.lt.%23FF0000", json!([{ "id": 2 }])),
            (
                "/paintings?select=rooms(wall)&id=eq.3",
                json!([{ "rooms": { "wall": "#FF0000" } }]),
            ),
        ],
    )
    .await;
    let full = [("prefer", "return=representation")];
    let made = anon
        .post_with(
            "/rooms",
            &full,
            &json!({ "id": 3, "name": "Attic", "wall": "#00FF00" }),
        )
        .await;
    assert_eq!(made.json()[0]["wall"], "#00FF00", "{}", made.text);
    let body = Some(json!({ "wall": "#000001" }).to_string());
    let changed = anon
        .send("PATCH", "/rooms?wall=eq.%2300FF00&select=wall", &full, body)
        .await;
    assert_eq!(changed.json(), json!([{ "wall": "#000001" }]));
    let csv = anon
        .get_with("/rooms?select=wall&id=eq.2", &[("accept", "text/csv")])
        .await;
    assert!(csv.text.contains("#FF0000"), "{}", csv.text);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_114_media_type_handlers_apply_to_whole_rows_only() {
    let app = start_wide_schema().await;
    let get = async |path: &str, accept: &str| app.anon().get_with(path, &[("accept", accept)]).await;

    let markdown = get("/paintings?order=id&limit=2", "text/markdown").await;
    assert_eq!(markdown.text, "* Harbour\n* Storm\n");
    assert_eq!(markdown.header("content-type"), Some("text/markdown"));
    let logo = get("/rpc/logo", "image/svg+xml").await;
    assert_eq!(
        (logo.text.as_str(), logo.header("content-type")),
        ("<svg/>", Some("image/svg+xml"))
    );
    let any = get("/labels?order=painting_id", "*/*").await;
    assert_eq!(
        (any.text.as_str(), any.header("content-type")),
        ("onethree", Some("application/octet-stream"))
    );
    let odd = get("/labels?order=painting_id", "odd/type").await;
    assert_eq!(odd.text, "onethree");
    // A handler does not apply with a `select`, and never to vendor media types.
    assert_eq!(
        get("/labels?select=text&painting_id=eq.1", "*/*").await.text,
        r#"[{"text":"one"}]"#
    );
    assert_eq!(get("/labels?select=text", "odd/type").await.code(), "PGRST107");
    let vendor = get("/labels?painting_id=eq.1", "application/vnd.pgrst.object+json").await;
    assert_eq!(vendor.json(), json!({ "painting_id": 1, "text": "one" }));
    assert_eq!(get("/rooms", "text/markdown").await.code(), "PGRST107");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_029_an_origin_with_only_hidden_relationships_gets_no_hint() {
    let app = start_wide_schema().await;

    let hidden = app.anon().get("/keepers?select=safes(*)").await;
    let wrong = app.anon().get("/paintings?select=artist(*)").await;

    assert_eq!(hidden.code(), "PGRST200");
    assert_eq!(hidden.json()["hint"], Value::Null);
    assert_eq!(
        wrong.json()["hint"],
        "Perhaps you meant 'artists' instead of 'artist'."
    );
}
