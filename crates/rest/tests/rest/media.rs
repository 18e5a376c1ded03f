//! CSV and stripped representations, preferences, rarer operators, computed relationships.

use serde_json::json;

use crate::support::{Client, TestApp};

const THINGS: &str = "
    create table public.owners (id int primary key, name text);
    create table public.things (
      id int primary key, owner_id int references public.owners (id), name text, flag boolean, tags text[], span int4range,
      doc jsonb, happened timestamptz, body text, words tsvector);
    create table public.parts (id int primary key, thing_name text);
    insert into public.owners values (1, 'ana'), (2, 'ben');
    insert into public.things values
      (1, 1, 'apple', true, '{a,b}', '[1,5)', '{\"a\":1}', '2024-01-01 12:00+00', 'The fat cats sat on a mat', to_tsvector('english', 'red apples')),
      (2, 2, 'say \"hi\", b', false, '{b}', '[5,10)', '{\"a\":1,\"b\":[2]}', '2024-07-01 12:00+00', 'A fast rat', to_tsvector('english', 'green pears')),
      (3, null, null, null, null, '[20,30)', null, null, '', null);
    insert into public.parts values (1, 'apple'), (2, 'apple');
    create function public.keeper(public.things) returns setof public.owners rows 1 language sql stable as
      $$ select * from public.owners where id = $1.owner_id $$;
    create function public.one_keeper(public.things) returns public.owners language sql stable as
      $$ select * from public.owners where id = $1.owner_id $$;
    create function public.pieces(public.things) returns setof public.parts language sql stable as
      $$ select * from public.parts where thing_name = $1.name $$;
    grant select on all tables in schema public to anon;";

/// Ids of the rows that a filter selects.
async fn ids(client: &Client, filter: &str) -> Vec<i64> {
    let response = client.get(&format!("/things?select=id&order=id&{filter}")).await;
    assert_eq!(response.status, 200, "{filter}: {response:?}");
    let rows = response.json();
    rows.as_array()
        .into_iter()
        .flatten()
        .filter_map(|row| row["id"].as_i64())
        .collect()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_083_csv_has_a_header_and_postgresqls_record_text() {
    let app = TestApp::start(THINGS).await;
    let csv = [("accept", "text/csv")];

    let rows = app
        .anon()
        .get_with("/things?select=id,name,flag,tags,body&order=id", &csv)
        .await;
    let none = app.anon().get_with("/things?id=eq.9", &csv).await;

    assert_eq!(rows.header("content-type"), Some("text/csv; charset=utf-8"));
    assert_eq!(
        rows.text,
        "id,name,flag,tags,body\n1,apple,t,\"{a,b}\",\"The fat cats sat on a mat\"\n\
         2,\"say \"\"hi\"\", b\",f,{b},\"A fast rat\"\n3,,,,\"\""
    );
    assert_eq!((none.status, none.text.as_str()), (200, "\n"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_084_nulls_are_stripped_from_arrays_and_objects() {
    let app = TestApp::start(THINGS).await;
    let ask = |media: &'static str| {
        let anon = app.anon();
        async move {
            anon.get_with("/things?select=id,name,doc&id=eq.3", &[("accept", media)])
                .await
        }
    };

    let array = ask("application/vnd.pgrst.array+json;nulls=stripped").await;
    let object = ask("application/vnd.pgrst.object+json;nulls=stripped").await;

    assert_eq!(array.json(), json!([{"id": 3}]));
    assert_eq!(
        array.header("content-type"),
        Some("application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8")
    );
    assert_eq!(object.json(), json!({"id": 3}));
    assert_eq!(
        object.header("content-type"),
        Some("application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_087_strict_handling_refuses_unknown_preferences() {
    let app = TestApp::start(THINGS).await;
    let prefer = |value: &'static str| {
        let anon = app.anon();
        async move { anon.get_with("/things?select=id", &[("prefer", value)]).await }
    };

    let strict = prefer("handling=strict, anything=1, count=exact, other").await;
    let lenient = prefer("handling=lenient, anything=1").await;
    let silent = prefer("anything=1").await;

    assert_eq!((strict.status, strict.code().as_str()), (400, "PGRST122"));
    assert_eq!(strict.json()["details"], "Invalid preferences: anything=1, other");
    assert_eq!(
        (lenient.status, lenient.header("preference-applied")),
        (200, Some("handling=lenient"))
    );
    assert_eq!((silent.status, silent.header("preference-applied")), (200, None));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_089_a_time_zone_changes_how_times_are_written() {
    let app = TestApp::start(THINGS).await;
    let path = "/things?select=happened&id=lt.3&order=id";

    let response = app
        .anon()
        .get_with(path, &[("prefer", "timezone=America/New_York")])
        .await;
    // As recorded from PostgREST, an unknown zone is PostgreSQL's error.
    let unknown = app
        .anon()
        .get_with(path, &[("prefer", "timezone=Mars/Phobos")])
        .await;
    let next = app
        .anon()
        .get_with("/things?select=happened&id=eq.1", &[("prefer", "timezone=UTC")])
        .await;

    assert_eq!(
        response.json(),
        json!([{"happened": "2024-01-01T07:00:00-05:00"}, {"happened": "2024-07-01T08:00:00-04:00"}])
    );
    assert_eq!(
        response.header("preference-applied"),
        Some("timezone=America/New_York")
    );
    assert_eq!((unknown.status, unknown.code().as_str()), (400, "22023"));
    assert_eq!(next.json()[0]["happened"], "2024-01-01T12:00:00+00:00");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_101_full_text_search_on_text_and_tsvector_columns() {
    let app = TestApp::start(THINGS).await;
    let anon = app.anon();
    for (filter, expected) in [
        ("body=fts(english).cat%26sat", vec![1]),
        ("body=fts(english).cat%7Crat", vec![1, 2]),
        ("body=fts(english).cat%26rat", vec![]),
        ("body=plfts(english).the%20fat%20cats", vec![1]),
        ("body=phfts(english).fat%20cats", vec![1]),
        ("body=phfts(english).cats%20fat", vec![]),
        ("body=wfts(english).cat%20-rat", vec![1]),
        ("body=wfts(english).%22fast%20rat%22%20or%20dog", vec![2]),
        ("body=plfts.fast", vec![2]),
        ("body=not.fts(english).cat", vec![2, 3]),
        ("words=fts(english).apple", vec![1]),
        ("words=plfts(english).pears", vec![2]),
        ("words=fts.appl", vec![1]),
        ("or=(body.fts(english).cat,body.plfts(english).rat)", vec![1, 2]),
    ] {
        assert_eq!(ids(&anon, filter).await, expected, "{filter}");
    }
    let unknown = anon.get("/things?body=fts(klingon).cat").await;
    assert_eq!((unknown.status, unknown.code().as_str()), (400, "42704"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_102_array_json_and_range_operators() {
    let app = TestApp::start(THINGS).await;
    let anon = app.anon();
    for (filter, expected) in [
        ("tags=cs.{a}", vec![1]),
        ("tags=cd.{a,b,c}", vec![1, 2]),
        ("tags=ov.{b,z}", vec![1, 2]),
        ("tags=not.cs.{a}", vec![2]),
        ("doc=cs.{%22a%22:1}", vec![1, 2]),
        ("doc=cd.{%22a%22:1}", vec![1]),
        ("span=cs.[6,7)", vec![2]),
        ("span=cd.[0,10]", vec![1, 2]),
        ("span=ov.[4,6)", vec![1, 2]),
        ("span=sl.[5,10)", vec![1]),
        ("span=sr.[5,10)", vec![3]),
        ("span=nxr.[5,10)", vec![1, 2]),
        ("span=nxl.[5,10)", vec![2, 3]),
        ("span=adj.[5,10)", vec![1]),
        ("or=(span.adj.%22[10,20)%22,tags.cs.%22{a}%22)", vec![1, 2, 3]),
    ] {
        assert_eq!(ids(&anon, filter).await, expected, "{filter}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_103_any_all_patterns_and_isdistinct() {
    let app = TestApp::start(THINGS).await;
    let anon = app.anon();
    for (filter, expected) in [
        ("name=like(any).{a*,s*}", vec![1, 2]),
        ("name=like(all).{a*,*e}", vec![1]),
        ("name=ilike(any).{A*,zzz}", vec![1]),
        ("name=ilike(all).{*P*,*L*}", vec![1]),
        ("id=eq(any).{1,3}", vec![1, 3]),
        ("id=eq(all).{1,3}", vec![]),
        ("id=gt(all).{1,2}", vec![3]),
        ("id=gte(any).{2,3}", vec![2, 3]),
        ("id=not.eq(any).{1,3}", vec![2]),
        ("name=match.^a.*e$", vec![1]),
        ("name=imatch.^A", vec![1]),
        ("name=match(any).{^a,^s}", vec![1, 2]),
        ("name=isdistinct.apple", vec![2, 3]),
        ("name=not.isdistinct.apple", vec![1]),
        ("or=(id.eq(any).{3},name.like(all).{a*})", vec![1, 3]),
    ] {
        assert_eq!(ids(&anon, filter).await, expected, "{filter}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_107_computed_relationships_embed_by_name_and_replace_detected_ones() {
    let app = TestApp::start(THINGS).await;
    let anon = app.anon();

    let computed = anon
        .get("/things?select=id,keeper(name),one_keeper(name),pieces(id)&order=id&pieces.order=id.desc")
        .await;
    assert_eq!(
        computed.json(),
        json!([
            {"id": 1, "keeper": {"name": "ana"}, "one_keeper": {"name": "ana"}, "pieces": [{"id": 2}, {"id": 1}]},
            {"id": 2, "keeper": {"name": "ben"}, "one_keeper": {"name": "ben"}, "pieces": []},
            {"id": 3, "keeper": null, "one_keeper": {"name": null}, "pieces": []},
        ])
    );
    let inner = anon
        .get("/things?select=id,pieces!inner(id)&pieces.id=eq.2")
        .await;
    assert_eq!(inner.json(), json!([{"id": 1, "pieces": [{"id": 2}]}]));
    assert_eq!(
        anon.get("/things?select=owners(name)&id=eq.1").await.json(),
        json!([{"owners": {"name": "ana"}}])
    );

    let superuser = app.database.superuser().await;
    superuser
        .batch_execute(
            "create function public.owners(public.things) returns setof public.owners rows 1 language sql stable as
               $$ select * from public.owners where name = 'ben' $$",
        )
        .await
        .unwrap();

    anon.until("/things?select=owners(name)&id=eq.1", |response| {
        response.json() == json!([{"owners": {"name": "ben"}}])
    })
    .await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_120_filters_may_use_the_target_name_of_an_aliased_embed_with_a_warning() {
    let app = TestApp::start(THINGS).await;
    let anon = app.anon();

    let by_target = anon
        .get("/things?select=id,o:owners!inner(name)&owners.name=eq.ana")
        .await;
    let by_alias = anon
        .get("/things?select=id,o:owners!inner(name)&o.name=eq.ana")
        .await;

    let rows = json!([{"id": 1, "o": {"name": "ana"}}]);
    assert_eq!((by_target.json(), by_alias.json()), (rows.clone(), rows));
    let warning = by_target.header("warning").unwrap_or_default();
    assert!(
        warning.starts_with("299 PostgREST") && warning.contains("Update `owners` to `o`"),
        "{warning}"
    );
    assert_eq!(by_alias.header("warning"), None);
}
