//! The wide schema: media types, preferences, profiles and CORS.

use serde_json::{Value, json};

use crate::support::TestApp;
use crate::wide_schema::{WIDE_SCHEMA, start_wide_schema};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_080_responses_with_a_body_have_content_profile_where_several_schemas_are_exposed() {
    let app = start_wide_schema().await;
    let anon = app.anon();

    let rows = anon.get("/rooms?id=eq.1").await;
    let singular = anon
        .get_with(
            "/rooms?id=eq.1",
            &[("accept", "application/vnd.pgrst.object+json")],
        )
        .await;
    let called = anon.post("/rpc/mode", &json!({})).await;
    let root = anon.get("/").await;
    for response in [rows, singular, called, root] {
        assert_eq!(
            response.header("content-profile"),
            Some("public"),
            "{}",
            response.text
        );
    }
    let minimal = anon.post("/rooms", &json!({ "id": 30, "name": "x" })).await;
    let error = anon.get("/nowhere").await;
    let empty = anon.send("DELETE", "/rooms?id=eq.30", &[], None).await;
    for response in [minimal, error, empty] {
        assert_eq!(response.header("content-profile"), None, "{}", response.text);
    }
    let config = selvedge_rest::RestConfig {
        schemas: vec!["public".to_owned()],
        ..Default::default()
    };
    let single_schema = TestApp::start_with(WIDE_SCHEMA, config).await;
    assert_eq!(
        single_schema
            .anon()
            .get("/rooms?id=eq.1")
            .await
            .header("content-profile"),
        None
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_081_preflights_need_no_token_and_responses_expose_their_headers() {
    let app = start_wide_schema().await;
    let mut broken = app.anon();
    broken.token = Some("no.good.token".to_owned());
    let preflight = [
        ("origin", "https://site.example"),
        ("access-control-request-method", "PATCH"),
        (
            "access-control-request-headers",
            "authorization, x-client-info, x-new",
        ),
    ];

    let response = broken.send("OPTIONS", "/rooms", &preflight, None).await;
    assert_eq!((response.status, response.text.as_str()), (200, ""));
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    let allowed = response
        .header("access-control-allow-methods")
        .unwrap_or_default();
    for method in ["GET", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "HEAD"] {
        assert!(allowed.contains(method), "{allowed}");
    }
    let headers = response
        .header("access-control-allow-headers")
        .unwrap_or_default()
        .to_lowercase();
    for header in ["authorization", "x-client-info", "x-new"] {
        assert!(headers.contains(header), "{headers}");
    }
    assert!(response.header("access-control-max-age").is_some());

    let origin = [("origin", "https://site.example")];
    for path in ["/rooms", "/nowhere"] {
        let other = app.anon().get_with(path, &origin).await;
        assert_eq!(other.header("access-control-allow-origin"), Some("*"));
        let exposed = other.header("access-control-expose-headers").unwrap_or_default();
        for header in ["Content-Range", "Location", "Content-Location"] {
            assert!(exposed.contains(header), "{exposed}");
        }
    }
    // Without Origin and the requested method it is not a preflight, so the token is checked.
    assert_eq!(
        broken.send("OPTIONS", "/rooms", &[], None).await.code(),
        "PGRST301"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_083_csv_has_a_header_row_and_postgresqls_record_text() {
    let app = start_wide_schema().await;
    let csv = [("accept", "text/csv")];

    let rows = app
        .anon()
        .get_with("/paintings?select=id,title,year,tags,is_old:age&order=id", &csv)
        .await;
    assert_eq!(rows.header("content-type"), Some("text/csv; charset=utf-8"));
    assert_eq!(
        rows.text,
        "id,title,year,tags,is_old\n1,Harbour,1900,\"{sea,boat}\",124\n2,Storm,1910,{sea},114\n3,Cat,1910,\"{animal,cat}\",114\n\
         4,\"100% blue_sky\",,{},"
    );
    let none = app.anon().get_with("/paintings?id=eq.0", &csv).await;
    assert_eq!((none.status, none.text.as_str()), (200, "\n"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_084_stripped_media_types_leave_out_null_keys() {
    let app = start_wide_schema().await;
    let get = async |path: &str, accept: &str| app.anon().get_with(path, &[("accept", accept)]).await;

    let array = get(
        "/paintings?select=id,year,rooms(name)&order=id.desc&limit=2",
        "application/vnd.pgrst.array+json;nulls=stripped",
    )
    .await;
    assert_eq!(
        array.json(),
        json!([{ "id": 4 }, { "id": 3, "year": 1910, "rooms": { "name": "West" } }])
    );
    assert_eq!(
        array.header("content-type"),
        Some("application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8")
    );
    let object = get(
        "/paintings?select=id,year&id=eq.4",
        "application/vnd.pgrst.object+json;nulls=stripped",
    )
    .await;
    assert_eq!(object.json(), json!({ "id": 4 }));
    assert_eq!(
        object.header("content-type"),
        Some("application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8")
    );
    let plain = get(
        "/paintings?select=id,year&id=eq.4",
        "application/vnd.pgrst.array+json",
    )
    .await;
    assert_eq!(plain.json(), json!([{ "id": 4, "year": null }]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_087_strict_handling_refuses_unknown_preferences() {
    let app = start_wide_schema().await;
    let get = async |prefer: &str| {
        app.anon()
            .get_with("/rooms?select=id", &[("prefer", prefer)])
            .await
    };

    let strict = get("handling=strict, odd=1, count=exact, return=none").await;
    assert_eq!((strict.status, strict.code().as_str()), (400, "PGRST122"));
    assert_eq!(
        strict.json()["details"],
        "Invalid preferences: odd=1, return=none"
    );
    for lenient in ["odd=1", "handling=lenient, odd=1"] {
        assert_eq!(get(lenient).await.status, 200, "{lenient}");
    }
    let known = get("handling=strict, count=exact").await;
    assert_eq!(
        known.header("preference-applied"),
        Some("count=exact, handling=strict")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_089_a_time_zone_changes_how_times_are_written() {
    let app = start_wide_schema().await;
    let get = async |prefer: &str| {
        app.anon()
            .get_with("/paintings?select=hung&id=eq.1", &[("prefer", prefer)])
            .await
    };

    let york = get("timezone=America/New_York").await;
    assert_eq!(york.json(), json!([{ "hung": "2024-01-01T07:00:00-05:00" }]));
    assert_eq!(
        york.header("preference-applied"),
        Some("timezone=America/New_York")
    );
    let called = app
        .anon()
        .get_with("/rpc/now_here", &[("prefer", "timezone=Asia/Tokyo")])
        .await;
    assert_eq!(called.text, "\"2024-06-01T21:00:00+09:00\"");
    // As in PostgREST 16, which does not check zones itself: PostgreSQL refuses an unknown one.
    for prefer in [
        "timezone=Moon/Base",
        "handling=lenient, timezone=Moon/Base",
        "handling=strict, timezone=Moon/Base",
    ] {
        assert_eq!(get(prefer).await.code(), "22023", "{prefer}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_120_legacy_target_names_warn_or_are_refused_by_configuration() {
    let app = start_wide_schema().await;

    for query in [
        "/paintings?select=id,painter:artists(name)&artists.name=eq.Vera&id=eq.1",
        "/paintings?select=id,painter:artists(name)&artists.order=name&id=eq.1",
        "/artists?select=works:paintings(id)&paintings.limit=1&id=eq.1",
    ] {
        let response = app.anon().get(query).await;

        let warning = response.header("warning").unwrap_or_default();
        assert!(
            response.status == 200 && warning.starts_with("299 "),
            "{query}: {warning} {}",
            response.text
        );
    }
    let by_alias = app
        .anon()
        .get("/paintings?select=id,painter:artists(name)&painter.name=eq.Vera&id=eq.1")
        .await;
    assert_eq!(by_alias.header("warning"), None);
    let config = selvedge_rest::RestConfig {
        legacy_target_names: false,
        ..Default::default()
    };
    let modern = TestApp::start_with(WIDE_SCHEMA, config).await;
    let refused = modern
        .anon()
        .get("/paintings?select=id,painter:artists(name)&artists.name=eq.Vera")
        .await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "PGRST108"));
    assert_eq!(
        refused.json()["details"],
        "Target names are not allowed in filters if they have an alias"
    );
    assert_eq!(
        refused.json()["hint"],
        "Change 'artists' to 'painter' in filters, orders or limits."
    );
    assert_ne!(refused.json()["message"], Value::Null);
}
