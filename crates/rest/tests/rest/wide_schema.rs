//! The wide schema, a museum with unusual columns and functions: select, filters and counts.

use selvedge_rest::RestConfig;
use serde_json::{Value, json};

use crate::support::TestApp;

/// A museum whose tables use what the blog does not: ranges, arrays, domains, composite types, partitions.
pub(crate) const WIDE_SCHEMA: &str = include_str!("wide_schema.sql");

pub(crate) async fn start_wide_schema() -> TestApp {
    TestApp::start(WIDE_SCHEMA).await
}

pub(crate) async fn start_with_aggregates() -> TestApp {
    let config = RestConfig {
        aggregates_enabled: true,
        ..RestConfig::default()
    };
    TestApp::start_with(WIDE_SCHEMA, config).await
}

/// Sends each request and compares the body as JSON.
pub(crate) async fn expect_rows(app: &TestApp, cases: &[(&str, Value)]) {
    for (path, expected) in cases {
        let response = app.anon().get(path).await;

        assert_eq!(response.status, 200, "{path}: {}", response.text);
        assert_eq!(response.json(), *expected, "{path}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_010_without_select_all_columns_come_in_table_order() {
    let app = start_wide_schema().await;

    for path in ["/rooms?id=eq.1", "/rooms?id=eq.1&select=*"] {
        let response = app.anon().get(path).await;

        assert_eq!(
            response.text, r##"[{"id":1,"name":"East","open_hours":"[9,17)","wall":"#0000FF"}]"##,
            "{path}"
        );
    }
    for path in ["/guarded?id=eq.1&select=", "/guarded?id=eq.1&select"] {
        assert_eq!(app.anon().get(path).await.text, r#"[{"id":1,"v":1}]"#, "{path}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_014_like_patterns_accept_star_and_percent() {
    let app = start_wide_schema().await;

    expect_rows(
        &app,
        &[
            ("/paintings?select=id&title=like.*arb*", json!([{ "id": 1 }])),
            ("/paintings?select=id&title=like.%25arb%25", json!([{ "id": 1 }])),
            ("/paintings?select=id&title=ilike.h*R", json!([{ "id": 1 }])),
            ("/paintings?select=id&title=like.h*r", json!([])),
            ("/paintings?select=id&title=like.100\\%25*", json!([{ "id": 4 }])),
            ("/paintings?select=id&title=like.C_t", json!([{ "id": 3 }])),
            (
                "/paintings?select=id&title=not.like.*a*&order=id",
                json!([{ "id": 2 }, { "id": 4 }]),
            ),
            // In regular expressions `*` is not replaced by `%`.
            ("/paintings?select=id&title=match.^Sto*rm$", json!([{ "id": 2 }])),
        ],
    )
    .await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_035_json_paths_select_filter_and_sort() {
    let app = start_wide_schema().await;

    expect_rows(
        &app,
        &[
            (
                "/paintings?select=id&facts->sizes->0->>w=eq.10",
                json!([{ "id": 1 }]),
            ),
            (
                "/paintings?select=id&facts->sizes->-1->>w=eq.20",
                json!([{ "id": 1 }]),
            ),
            (
                "/paintings?select=facts->sizes->0&id=eq.1",
                json!([{ "sizes": { "w": 10 } }]),
            ),
            (
                "/paintings?select=facts->>\"odd key.,\"&id=eq.1",
                json!([{ "odd key.,": "yes" }]),
            ),
            // Paths also apply to composite types and arrays.
            (
                "/paintings?select=id,frame->>material&frame->>width=eq.40",
                json!([{ "id": 1, "material": "oak" }]),
            ),
            ("/paintings?select=tags->0&id=eq.3", json!([{ "tags": "animal" }])),
            (
                "/paintings?select=id&order=frame->width.desc.nullslast,id&limit=3",
                json!([{ "id": 2 }, { "id": 1 }, { "id": 3 }]),
            ),
            (
                "/paintings?select=id&or=(facts->sizes->0->>w.eq.10,tags->>1.eq.cat)&order=id",
                json!([{ "id": 1 }, { "id": 3 }]),
            ),
        ],
    )
    .await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_036_computed_fields_can_be_selected_filtered_and_sorted() {
    let app = start_wide_schema().await;

    expect_rows(
        &app,
        &[
            (
                "/paintings?select=id,age&id=eq.1",
                json!([{ "id": 1, "age": 124 }]),
            ),
            (
                "/paintings?select=id,years:age::text&age=gt.114",
                json!([{ "id": 1, "years": "124" }]),
            ),
            (
                "/paintings?select=id&age=not.is.null&order=age.desc,id",
                json!([{ "id": 1 }, { "id": 2 }, { "id": 3 }]),
            ),
            (
                "/artists?select=paintings(age)&paintings.order=age&id=eq.1",
                json!([{ "paintings": [{ "age": 114 }, { "age": 124 }] }]),
            ),
        ],
    )
    .await;
    let all = app.anon().get("/paintings?id=eq.1").await.json();
    assert!(all[0].get("age").is_none());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_056_without_a_count_the_total_is_unknown() {
    let app = start_wide_schema().await;

    for (query, range) in [
        ("/paintings", "0-3/*"),
        ("/paintings?limit=2", "0-1/*"),
        ("/paintings?limit=2&offset=1", "1-2/*"),
        ("/paintings?offset=99", "*/*"),
        ("/paintings?limit=0", "*/*"),
        ("/paintings?id=eq.0", "*/*"),
        ("/rpc/years?limit=2&offset=2", "2-3/*"),
    ] {
        let response = app.anon().get(query).await;

        assert_eq!(
            (response.status, response.header("content-range")),
            (200, Some(range)),
            "{query}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_060_exact_counts_respect_filters_and_embeds_but_not_limits() {
    let app = start_wide_schema().await;

    for (query, status, range) in [
        ("/paintings?limit=1", 206, "0-0/4"),
        ("/paintings?year=eq.1910&limit=1", 206, "0-0/2"),
        ("/paintings?select=id,artists!inner(id)&limit=1", 206, "0-0/3"),
        (
            "/paintings?select=id,artists!inner(id)&artists.name=eq.Ilse",
            200,
            "0-0/1",
        ),
        ("/paintings?select=id,artists(id)&artists=is.null", 200, "0-0/1"),
        ("/paintings?select=id,labels()&labels=not.is.null", 200, "0-1/2"),
        (
            "/paintings?select=id,labels(),artists()&or=(labels.not.is.null,artists.is.null)",
            200,
            "0-2/3",
        ),
        (
            "/artists?select=id,paintings!inner(id,labels!inner(text))&paintings.labels.text=eq.three",
            200,
            "0-0/1",
        ),
        (
            "/rooms?select=id,painters!inner(name)&painters.name=eq.Vera",
            200,
            "0-0/1",
        ),
        ("/rpc/years?limit=2", 206, "0-1/5"),
    ] {
        let response = app.anon().get_with(query, &[("prefer", "count=exact")]).await;

        assert_eq!(
            (response.status, response.header("content-range")),
            (status, Some(range)),
            "{query}: {}",
            response.text
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_061_estimated_counts_are_exact_up_to_max_rows() {
    let config = RestConfig {
        max_rows: Some(2),
        ..RestConfig::default()
    };
    let app = TestApp::start_with(
        &format!("{WIDE_SCHEMA}; create table public.many as select i from generate_series(1, 900) i; grant select on public.many to anon; analyze public.many;"),
        config,
    )
    .await;
    let total = async |path: &str, count: &str| {
        let response = app.anon().get_with(path, &[("prefer", count)]).await;
        let range = response.header("content-range").unwrap_or_default().to_owned();
        range.rsplit('/').next().unwrap_or_default().to_owned()
    };

    assert_eq!(total("/many", "count=planned").await, "900");
    assert_eq!(total("/many", "count=estimated").await, "900");
    assert_eq!(total("/many?i=lte.2", "count=estimated").await, "2");
    assert_eq!(total("/many?i=eq.0", "count=estimated").await, "0");
    // The planner's estimate for a function would be a constant, so it is not used.
    assert_eq!(total("/rpc/years", "count=planned").await, "*");
    assert_eq!(total("/rpc/years", "count=estimated").await, "5");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_101_text_search_applies_to_tsvector_to_text_columns() {
    let app = start_wide_schema().await;

    expect_rows(
        &app,
        &[
            ("/artists?select=id&bio=fts(english).boat", json!([{ "id": 1 }])),
            ("/artists?select=id&about=fts(english).boat", json!([{ "id": 1 }])),
            (
                "/artists?select=id&about=plfts(english).the+boats",
                json!([{ "id": 1 }]),
            ),
            (
                "/artists?select=id&about=phfts(english).only+cats",
                json!([{ "id": 2 }]),
            ),
            (
                "/artists?select=id&about=wfts(english).boat+or+cat&order=id",
                json!([{ "id": 1 }, { "id": 2 }]),
            ),
            (
                "/artists?select=id&about=not.fts(english).boat",
                json!([{ "id": 2 }]),
            ),
            (
                "/artists?select=id&or=(about.fts(english).boat,bio.fts(english).cat)&order=id",
                json!([{ "id": 1 }, { "id": 2 }]),
            ),
            (
                "/paintings?select=id&title=fts(simple).storm",
                json!([{ "id": 2 }]),
            ),
        ],
    )
    .await;
    let unknown = app.anon().get("/artists?about=fts(klingon).boat").await;
    assert_eq!((unknown.status, unknown.code().as_str()), (400, "42704"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_102_containment_overlap_and_ranges() {
    let app = start_wide_schema().await;

    expect_rows(
        &app,
        &[
            ("/paintings?select=id&tags=cs.{sea,boat}", json!([{ "id": 1 }])),
            (
                "/paintings?select=id&tags=cd.{sea,cat}&order=id",
                json!([{ "id": 2 }, { "id": 4 }]),
            ),
            (
                "/paintings?select=id&tags=ov.{cat,boat}&order=id",
                json!([{ "id": 1 }, { "id": 3 }]),
            ),
            ("/rooms?select=id&open_hours=cs.[9,10)", json!([{ "id": 1 }])),
            ("/rooms?select=id&open_hours=ov.[18,19]", json!([{ "id": 2 }])),
            ("/rooms?select=id&open_hours=sl.[17,30)", json!([{ "id": 1 }])),
            ("/rooms?select=id&open_hours=sr.[1,10)", json!([{ "id": 2 }])),
            ("/rooms?select=id&open_hours=nxr.[1,17)", json!([{ "id": 1 }])),
            ("/rooms?select=id&open_hours=nxl.[10,11)", json!([{ "id": 2 }])),
            ("/rooms?select=id&open_hours=adj.[17,18)", json!([{ "id": 1 }])),
            (
                "/rooms?select=id&or=(open_hours.adj.\"[17,18)\",id.eq.9)",
                json!([{ "id": 1 }]),
            ),
        ],
    )
    .await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_103_any_all_and_isdistinct() {
    let app = start_wide_schema().await;

    expect_rows(
        &app,
        &[
            (
                "/paintings?select=id&title=like(any).{*arb*,C*}&order=id",
                json!([{ "id": 1 }, { "id": 3 }]),
            ),
            (
                "/paintings?select=id&title=ilike(all).{*A*,*b*}&order=id",
                json!([{ "id": 1 }]),
            ),
            ("/paintings?select=id&year=eq(any).{1900,1}", json!([{ "id": 1 }])),
            (
                "/paintings?select=id&year=gte(all).{1900,1910}&order=id",
                json!([{ "id": 2 }, { "id": 3 }]),
            ),
            (
                "/paintings?select=id&title=match(any).{^H,t$}&order=id",
                json!([{ "id": 1 }, { "id": 3 }]),
            ),
            (
                "/paintings?select=id&title=not.imatch.[ao]&order=id",
                json!([{ "id": 4 }]),
            ),
            (
                "/paintings?select=id&year=isdistinct.1910&order=id",
                json!([{ "id": 1 }, { "id": 4 }]),
            ),
            (
                "/paintings?select=id&year=not.isdistinct.1900",
                json!([{ "id": 1 }]),
            ),
            (
                "/paintings?select=id&or=(year.eq(any).\"{1900,1}\",title.like(any).{C*})&order=id",
                json!([{ "id": 1 }, { "id": 3 }]),
            ),
        ],
    )
    .await;
    for query in [
        "year=neq(any).{1}",
        "tags=cs(all).{sea}",
        "year=in(any).(1)",
        "year=eq(some).{1}",
    ] {
        let response = app.anon().get(&format!("/paintings?{query}")).await;
        assert_eq!(
            (response.status, response.code().as_str()),
            (400, "PGRST100"),
            "{query}"
        );
    }
}
