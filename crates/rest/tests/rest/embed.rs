//! Embedding over foreign keys, junctions, views and functions.

use serde_json::json;

use crate::support::TestApp;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_023_to_026_embeds_to_one_to_many_and_many_to_many() {
    let app = TestApp::blog().await;

    let rows = app
        .anon()
        .get("/posts?select=id,author:profiles!author_id(username),comments(id),tags(name)&order=id&comments.order=id&tags.order=name&id=in.(1,2)")
        .await;

    assert_eq!(
        rows.json(),
        json!([
            { "id": 1, "author": { "username": "ana" }, "comments": [{ "id": 1 }, { "id": 2 }],
              "tags": [{ "name": "rust" }, { "name": "sql" }] },
            { "id": 2, "author": { "username": "ana" }, "comments": [], "tags": [] },
        ])
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_027_inner_embeds_drop_parents_without_a_match() {
    let app = TestApp::blog().await;
    let anon = app.anon();

    let inner = anon
        .get("/posts?select=id,comments!inner(id)&comments.body=eq.hm")
        .await
        .json();
    let left = anon
        .get("/posts?select=id,comments(id)&comments.body=eq.hm&order=id")
        .await
        .json();

    assert_eq!(inner, json!([{ "id": 3, "comments": [{ "id": 3 }] }]));
    assert_eq!(left.as_array().map(Vec::len), Some(3));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_028_two_foreign_keys_to_one_table_need_a_hint() {
    let app = TestApp::blog().await;

    let ambiguous = app.anon().get("/posts?select=profiles(username)").await;
    let by_column = app.anon().get("/posts?select=editor_id(username)&id=eq.1").await;
    let by_key = app
        .anon()
        .get("/posts?select=profiles!posts_editor_id_fkey(username)&id=eq.2")
        .await;

    assert_eq!((ambiguous.status, ambiguous.code().as_str()), (300, "PGRST201"));
    assert_eq!(ambiguous.json()["details"][0]["cardinality"], "many-to-one");
    assert_eq!(by_column.json(), json!([{ "editor_id": { "username": "ben" } }]));
    assert_eq!(by_key.json(), json!([{ "profiles": null }]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_028_two_embeds_of_one_name_are_refused() {
    let app = TestApp::blog().await;

    let twice = app
        .anon()
        .get("/posts?select=profiles!author_id(username),profiles!editor_id(username)")
        .await;
    let named = app
        .anon()
        .get("/posts?select=author:profiles!author_id(username),editor:profiles!editor_id(username)&id=eq.1")
        .await;

    assert_eq!(twice.status, 400);
    assert_eq!(
        twice.json(),
        json!({ "code": "42712", "details": null, "hint": null,
                "message": "table name \"posts_profiles_1\" specified more than once" })
    );
    assert_eq!(named.status, 200, "{}", named.text);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_029_a_missing_relationship_is_pgrst200_with_both_names() {
    let app = TestApp::blog().await;

    let response = app.anon().get("/tags?select=profiles(username)").await;

    assert_eq!((response.status, response.code().as_str()), (400, "PGRST200"));
    assert_eq!(
        response.json()["details"],
        "Searched for a foreign key relationship between 'tags' and 'profiles' in the schema 'public', but no matches were found."
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_030_filters_orders_and_limits_of_an_embed_apply_per_parent() {
    let app = TestApp::blog().await;

    let rows = app
        .anon()
        .get("/posts?select=id,c:comments(id)&order=id&c.order=id.desc&c.limit=1&c.or=(id.eq.1,id.eq.2)")
        .await
        .json();

    assert_eq!(rows[0], json!({ "id": 1, "c": [{ "id": 2 }] }));
    assert_eq!(rows[2], json!({ "id": 3, "c": [] }));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_031_embed_counts_work_with_aggregates_disabled() {
    let app = TestApp::blog().await;

    let rows = app.anon().get("/posts?select=id,likes(count)&order=id").await;
    let refused = app.anon().get("/posts?select=id.sum()").await;

    assert_eq!(rows.json()[0], json!({ "id": 1, "likes": [{ "count": 1 }] }));
    assert_eq!((refused.status, refused.code().as_str()), (400, "PGRST123"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_032_null_filters_on_embeds_are_anti_and_semi_joins() {
    let app = TestApp::blog().await;

    let without = app
        .anon()
        .get("/posts?select=id,comments()&comments=is.null")
        .await;
    let with = app
        .anon()
        .get("/posts?select=id,comments()&comments=not.is.null&order=id")
        .await;

    assert_eq!(without.json(), json!([{ "id": 2 }]));
    assert_eq!(with.json(), json!([{ "id": 1 }, { "id": 3 }]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_033_parameters_of_a_relation_that_is_not_embedded_are_refused() {
    let app = TestApp::blog().await;

    for query in [
        "comments.id=eq.1",
        "comments.order=id",
        "comments.limit=1",
        "comments.or=(id.eq.1)",
    ] {
        let response = app.anon().get(&format!("/posts?{query}")).await;

        assert_eq!(
            (response.status, response.code().as_str()),
            (400, "PGRST108"),
            "{query}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_033_of_several_parameters_without_an_embed_the_last_is_named() {
    let app = TestApp::blog().await;

    for (query, named) in [
        ("comments.id=eq.1&tags.id=eq.2", "tags"),
        ("tags.order=id&comments.order=id", "comments"),
        ("tags.limit=1&comments.id=eq.1", "comments"),
    ] {
        let response = app.anon().get(&format!("/posts?{query}")).await;

        assert_eq!(
            response.json()["message"],
            format!("'{named}' is not an embedded resource in this request"),
            "{query}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_104_spread_columns_become_columns_of_the_parent() {
    let app = TestApp::blog().await;

    let to_one = app
        .anon()
        .get("/comments?select=id,...posts(title)&order=id&limit=1")
        .await;
    let to_many = app
        .anon()
        .get("/posts?select=id,...tags(names:name)&id=eq.1&tags.order=name.desc")
        .await;

    assert_eq!(to_one.text, r#"[{"id":1,"title":"First"}]"#);
    assert_eq!(to_many.json(), json!([{ "id": 1, "names": ["sql", "rust"] }]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_105_rows_sort_by_a_column_of_a_to_one_embed() {
    let app = TestApp::blog().await;

    let rows = app
        .anon()
        .get("/comments?select=id,posts(title)&order=posts(title).desc,id")
        .await
        .json();
    let to_many = app
        .anon()
        .get("/posts?select=id,comments(id)&order=comments(id)")
        .await;

    assert_eq!(rows[0]["id"], 3);
    assert_eq!(to_many.code(), "PGRST118");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_108_views_embed_like_their_tables() {
    let app = TestApp::blog().await;

    let rows = app
        .anon()
        .get("/published?select=title,profiles!posts_author_id_fkey(username),comments(id)&post_id=eq.3")
        .await;

    assert_eq!(
        rows.json(),
        json!([{ "title": "Third", "profiles": { "username": "ben" }, "comments": [{ "id": 3 }] }])
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_109_a_self_reference_embeds_children_and_parent() {
    let app = TestApp::blog().await;

    let children = app.anon().get("/comments?select=id,comments(id)&id=eq.1").await;
    let parent = app
        .anon()
        .get("/comments?select=id,parent_id(body)&id=eq.2")
        .await;

    assert_eq!(children.json(), json!([{ "id": 1, "comments": [{ "id": 2 }] }]));
    assert_eq!(
        parent.json(),
        json!([{ "id": 2, "parent_id": { "body": "nice" } }])
    );
}
