//! Tenants with a schema each: chosen by a profile header or by a claim of the token, while grants decide who may use it.

use selvedge_rest::{ClaimPath, RestConfig};
use serde_json::{Value, json};

use crate::support::{ANA, Client, TestApp};

/// Two tenants. The function is what docs/scaling.md suggests for `db-pre-request`.
const TENANTS: &str = "
    create schema tenant_acme; create schema tenant_globex;
    create table public.notes (body text); insert into public.notes values ('of all');
    create table tenant_acme.notes (body text); insert into tenant_acme.notes values ('of acme');
    create table tenant_globex.notes (body text); insert into tenant_globex.notes values ('of globex');
    create function tenant_acme.whose() returns text language sql stable as $$ select 'acme' $$;
    create function public.check_tenant() returns void language plpgsql as $$ begin
      if current_schema() like 'tenant\\_%' and current_user <> 'service_role'
        and current_schema() is distinct from 'tenant_' || (auth.jwt() -> 'app_metadata' ->> 'tenant') then
        raise sqlstate 'PT403' using message = 'this is the schema of another tenant';
      end if;
    end $$;
    grant usage on schema tenant_acme, tenant_globex to anon, authenticated, service_role;
    grant all on all tables in schema public, tenant_acme, tenant_globex to anon, authenticated, service_role;
    grant execute on function public.check_tenant() to anon, authenticated, service_role;";

fn config() -> RestConfig {
    RestConfig {
        schemas: ["public", "tenant_*"].map(str::to_owned).to_vec(),
        tenant_claim: Some(ClaimPath::parse("$.app_metadata.tenant").expect("a path")),
        ..RestConfig::default()
    }
}

/// A signed-in user of a tenant.
fn user_of(app: &TestApp, tenant: Value) -> Client {
    app.with_claims(&json!({ "role": "authenticated", "sub": ANA, "app_metadata": { "tenant": tenant } }))
}

/// Status, and the first note or the code of the error.
async fn read_note(client: &Client, profile: Option<&str>) -> (u16, String) {
    let headers: Vec<_> = profile
        .iter()
        .map(|profile| ("accept-profile", *profile))
        .collect();
    let response = client.get_with("/notes?limit=1", &headers).await;
    let body = response.json();
    let text = body[0]["body"].as_str().or_else(|| body["code"].as_str());
    (response.status, text.unwrap_or_default().to_owned())
}

fn ok(note: &str) -> (u16, String) {
    (200, note.to_owned())
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_082_a_claim_chooses_the_schema_of_its_tenant_unless_a_profile_does() {
    let app = TestApp::start_with(TENANTS, config()).await;
    let (acme, globex) = (user_of(&app, json!("acme")), user_of(&app, json!("globex")));

    assert_eq!(read_note(&acme, None).await, ok("of acme"));
    assert_eq!(read_note(&globex, None).await, ok("of globex"));
    assert_eq!(read_note(&acme, Some("public")).await, ok("of all"));
    for nobodys in [
        app.anon(),
        app.user(ANA),
        app.service_role(),
        user_of(&app, Value::Null),
    ] {
        assert_eq!(read_note(&nobodys, None).await, ok("of all"));
    }
    assert_eq!(
        read_note(&app.service_role(), Some("tenant_acme")).await,
        ok("of acme")
    );

    let written = acme.post("/notes", &json!({ "body": "new" })).await;
    assert_eq!(written.status, 201, "{}", written.text);
    let seen = acme.get("/notes?body=eq.new").await;
    assert_eq!(
        (seen.json(), seen.header("content-profile")),
        (json!([{ "body": "new" }]), Some("tenant_acme"))
    );
    assert_eq!(globex.get("/notes?body=eq.new").await.json(), json!([]));
    assert_eq!(acme.get("/rpc/whose").await.json(), "acme");
    assert_eq!(globex.get("/rpc/whose").await.code(), "PGRST202");
    let paths = acme.get("/").await.json()["paths"].clone();
    assert!(paths["/rpc/whose"].is_object(), "{paths}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_082_a_tenant_without_a_schema_is_unknown_until_it_is_created() {
    let app = TestApp::start_with(TENANTS, config()).await;
    let unknown = (406, "PGRST106".to_owned());

    for tenant in [
        json!("initech"),
        json!(""),
        json!("acme\"; drop schema tenant_acme cascade; --"),
        json!("ACME"),
        json!(["acme"]),
        json!({ "a": 1 }),
        json!(false),
        json!("x".repeat(100)),
    ] {
        assert_eq!(
            read_note(&user_of(&app, tenant.clone()), None).await,
            unknown,
            "{tenant}"
        );
    }
    assert_eq!(read_note(&app.anon(), Some("tenant_initech")).await, unknown);
    let refused = user_of(&app, json!("initech")).get("/notes").await.json();
    assert_eq!(refused["message"], "Invalid schema: tenant_initech");
    assert_eq!(
        refused["hint"],
        "Only the following schemas are exposed: public, tenant_*"
    );

    let create = "create schema tenant_initech; grant usage on schema tenant_initech to authenticated;
        create table tenant_initech.notes as select 'of initech' as body;
        grant select on tenant_initech.notes to authenticated; notify pgrst";
    let superuser = app.database.superuser().await;
    superuser.batch_execute(create).await.expect("a tenant");
    let response = user_of(&app, json!("initech"))
        .until("/notes", |response| response.status == 200)
        .await;
    assert_eq!(response.json(), json!([{ "body": "of initech" }]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_082_grants_decide_which_schema_of_a_tenant_a_role_may_use() {
    let schema = format!("{TENANTS} revoke usage on schema tenant_globex from anon, authenticated;");
    let app = TestApp::start_with(&schema, config()).await;
    let denied = |status: u16| (status, "42501".to_owned());

    let acme = user_of(&app, json!("acme"));
    assert_eq!(read_note(&acme, None).await, ok("of acme"));
    assert_eq!(read_note(&acme, Some("tenant_globex")).await, denied(403));
    assert_eq!(
        read_note(&user_of(&app, json!("globex")), None).await,
        denied(403)
    );
    assert_eq!(read_note(&app.anon(), Some("tenant_globex")).await, denied(401));
    let service = app.with_claims(&json!({ "role": "service_role", "app_metadata": { "tenant": "globex" } }));
    assert_eq!(read_note(&service, None).await, ok("of globex"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_115_a_pre_request_function_can_keep_callers_to_their_tenant() {
    let config = RestConfig {
        pre_request: Some("public.check_tenant".to_owned()),
        ..config()
    };
    let app = TestApp::start_with(TENANTS, config).await;
    let acme = user_of(&app, json!("acme"));
    let refused = (403, "PT403".to_owned());

    assert_eq!(read_note(&acme, None).await, ok("of acme"));
    assert_eq!(read_note(&acme, Some("public")).await, ok("of all"));
    assert_eq!(read_note(&acme, Some("tenant_globex")).await, refused);
    assert_eq!(read_note(&app.anon(), Some("tenant_acme")).await, refused);
    assert_eq!(
        read_note(&app.service_role(), Some("tenant_globex")).await,
        ok("of globex")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_082_without_the_setting_a_claim_chooses_nothing() {
    let config = RestConfig {
        tenant_claim: None,
        ..config()
    };
    let app = TestApp::start_with(TENANTS, config).await;

    assert_eq!(read_note(&user_of(&app, json!("acme")), None).await, ok("of all"));
}
