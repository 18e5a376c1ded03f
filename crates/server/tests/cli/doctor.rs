//! `selvedge doctor`: what it finds on a healthy project, and on databases and servers that have faults.

use std::process::Output;

use serde_json::Value;

use crate::production::{generate_keys, serve_variables};
use crate::support::{Project, Running};

/// The findings that a run has printed, as pairs of check and status.
fn findings(output: &Output) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let list: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let field = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    for finding in &list {
        let has_advice = finding.get("advice").is_some();
        assert_eq!(
            has_advice,
            finding["status"] != "ok",
            "advice comes with faults: {finding}"
        );
    }
    list.iter()
        .map(|finding| (field(finding, "check"), field(finding, "status")))
        .collect()
}

/// The statuses of one check.
fn statuses<'a>(found: &'a [(String, String)], check: &str) -> Vec<&'a str> {
    let of_check = found.iter().filter(|(name, _)| name == check);
    of_check.map(|(_, status)| status.as_str()).collect()
}

fn check_healthy_project(project: &Project) {
    let output = project.run(&["doctor", "-o", "json"]);
    let found = findings(&output);

    assert!(output.status.success(), "{found:?}");
    for check in [
        "version",
        "postgresql",
        "schema",
        "clock",
        "connections",
        "transactions",
        "settings",
        "process_memory",
        "identities",
        "audit",
        "port",
        "files",
    ] {
        assert_eq!(statuses(&found, check), ["ok"], "{check}: {found:?}");
    }
    let list = project.run_and_expect_success(&["doctor"]);
    assert!(list.contains("PostgreSQL 1") && list.contains('→'), "{list}");
}

/// Users of single sign-on. The first has two names at a provider, of which only one is proven, the second an address of a domain that
/// the provider does not have. With the others all is well: two proven names, and a domain of the provider, in whatever case.
const SSO_USERS: &str = "
    insert into auth.sso_providers (id) values ('00000000-0000-0000-0000-0000000000aa'), ('00000000-0000-0000-0000-0000000000bb');
    insert into auth.sso_domains (id, sso_provider_id, domain) values
      (gen_random_uuid(), '00000000-0000-0000-0000-0000000000aa', 'Corp.example'),
      (gen_random_uuid(), '00000000-0000-0000-0000-0000000000bb', 'other.example');
    insert into auth.users (id, aud, role, email, email_confirmed_at, last_sign_in_at, is_sso_user) values
      ('00000000-0000-0000-0000-000000000007', 'authenticated', 'authenticated', '7@corp.example', now(), now(), true),
      ('00000000-0000-0000-0000-000000000008', 'authenticated', 'authenticated', '8@corp.example', now(), now(), true),
      ('00000000-0000-0000-0000-000000000009', 'authenticated', 'authenticated', '9@corp.example', now(), now(), true),
      ('00000000-0000-0000-0000-000000000010', 'authenticated', 'authenticated', '10@OTHER.example', now(), now(), true),
      ('00000000-0000-0000-0000-000000000011', 'authenticated', 'authenticated', '11@evil.example', null, now(), true);
    insert into auth.identities (id, provider_id, user_id, provider, identity_data)
    select ('00000000-0000-0000-0001-' || lpad(name, 12, '0'))::uuid, name, ('00000000-0000-0000-0000-' || lpad(n, 12, '0'))::uuid,
      'sso:00000000-0000-0000-0000-0000000000' || provider, '{}'
    from (values ('7', '71', 'aa'), ('7', '72', 'aa'), ('8', '81', 'bb'), ('9', '91', 'aa'), ('9', '92', 'aa'),
      ('10', '101', 'bb'), ('11', '111', 'aa')) as i (n, name, provider);
    insert into _selvedge.selvedge_sso_proven_identities (identity_id, proven_at)
    select id, now() from auth.identities where provider_id in ('71', '91', '92')";

/// Users of providers that do not say whether addresses are verified, or not always: those of [`UNPROVEN`] were let in by such a provider
/// alone. Of the others one has answered a mail, one has another provider's proof, one was created by an administrator, and two have
/// a proof by Azure and Kakao.
const USERS_OF_PROVIDERS: &str = r#"
    insert into auth.users (id, aud, role, email, email_confirmed_at, last_sign_in_at)
    select ('00000000-0000-0000-0000-0000000000' || n)::uuid, 'authenticated', 'authenticated', n || '@corp.example',
      case when n = 21 then now() + interval '1 minute' else now() end, now()
    from generate_series(20, 28) n;
    insert into auth.identities (provider_id, user_id, provider, identity_data, created_at)
    select n || provider, ('00000000-0000-0000-0000-0000000000' || n)::uuid, provider,
      jsonb_build_object('email', n || '@corp.example', 'email_verified', provider <> 'email') || said, now()
    from (values (20, 'notion', jsonb '{}'), (21, 'notion', '{}'), (22, 'notion', '{}'), (22, 'google', '{}'), (23, 'notion', '{}'),
      (23, 'email', '{}'), (24, 'azure', '{"custom_claims": {"xms_edov": "1"}}'), (25, 'azure', '{"custom_claims": {"tid": "t"}}'),
      (26, 'kakao', '{"iss": "https://kapi.kakao.com"}'), (27, 'kakao', '{"iss": "https://kauth.kakao.com"}'), (28, 'zoom', '{}'))
      as i (n, provider, said)"#;
const UNPROVEN: [u32; 4] = [20, 25, 27, 28];

/// Accounts as older versions may have left them: each rule that today's Auth keeps is broken once.
async fn check_suspicious_identities(project: &Project) {
    let database = project.database().await;
    let users = "with made as (
        insert into auth.users (id, aud, role, email, email_confirmed_at, last_sign_in_at, is_sso_user)
        select ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'authenticated', 'authenticated', n || '@corp.example',
          case when n <> 4 then now() end, now(), n = 6
        from generate_series(1, 6) n returning id)
      select from made";
    let identity = "insert into auth.identities (provider_id, user_id, provider, identity_data, created_at, updated_at) values
        ('1', '00000000-0000-0000-0000-000000000001', 'phone', '{\"email\": \"1@corp.example\"}', now(), now()),
        ('2', '00000000-0000-0000-0000-000000000002', 'discord', '{\"email\": \"x@evil.example\", \"email_verified\": true}', now(), now()),
        ('3', '00000000-0000-0000-0000-000000000003', 'email', '{\"email\": \"3@corp.example\"}', now(), now()),
        ('3', '00000000-0000-0000-0000-000000000003', 'discord', '{\"email\": \"ceo@corp.example\"}', now() - interval '1 day', now()),
        ('3', '00000000-0000-0000-0000-000000000003', 'google', '{\"email\": \"ceo@corp.example\", \"email_verified\": true}', now(), now()),
        ('6', '00000000-0000-0000-0000-000000000006', 'google', '{\"email\": \"6@corp.example\", \"email_verified\": true}', now(), now())";
    let factors = "insert into auth.mfa_factors (id, user_id, factor_type, status, friendly_name, created_at, updated_at)
      select gen_random_uuid(), '00000000-0000-0000-0000-000000000005', 'totp', status::auth.factor_status, status,
        now() - age, now()
      from (values ('unverified', interval '1 day'), ('verified', interval '1 hour')) as f (status, age)";
    for statement in [users, identity, factors] {
        database
            .execute(statement, &[])
            .await
            .expect("postgres may write to auth");
    }
    let superuser = project.superuser().await;
    superuser
        .batch_execute(&format!("{SSO_USERS}; {USERS_OF_PROVIDERS}"))
        .await
        .expect("users of single sign-on and of providers");

    let output = project.run(&["doctor", "-o", "json"]);

    assert!(output.status.success(), "warnings are no errors");
    assert_eq!(statuses(&findings(&output), "identities"), ["warning"; 9]);
    let list = project.run_and_expect_success(&["doctor"]);
    for number in 1..=8 {
        let id = format!("1 (00000000-0000-0000-0000-{number:012})");
        assert!(list.contains(&id), "{id}: {list}");
    }
    for number in 20..=28 {
        let id = format!("00000000-0000-0000-0000-{number:012}");
        assert_eq!(list.contains(&id), UNPROVEN.contains(&number), "{id}: {list}");
    }
    database
        .batch_execute("delete from auth.users; delete from auth.sso_providers")
        .await
        .expect("they are deleted");
}

/// The folder of stored objects is noted to have those of another database as well.
fn check_files_of_another_database(project: &Project) {
    let note = project.path(".selvedge/storage-owners");
    let written = std::fs::read_to_string(&note).expect("a note");
    std::fs::write(&note, "own\n7123/5 staging.example.com:5432/app\n").expect("written");

    let output = project.run(&["doctor", "-o", "json"]);

    assert_eq!(statuses(&findings(&output), "files"), ["warning"]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        printed.contains("the project's own database and staging.example.com:5432/app"),
        "{printed}"
    );
    std::fs::write(&note, written).expect("written");
}

/// Without it whoever may read objects by SQL reads their old versions. The statement that is advised makes it again.
async fn check_missing_policy(project: &Project) {
    let database = project.database().await;
    let policy = "select pg_get_expr(polqual, polrelid) || polpermissive::text || polcmd::text || polroles::text \
                  from pg_policy where polname = 'objects_of_today'";
    let before: String = database.query_one(policy, &[]).await.expect("it is there").get(0);
    database
        .batch_execute("drop policy objects_of_today on storage.objects")
        .await
        .expect("postgres may drop policies");

    let output = project.run(&["doctor", "-o", "json"]);

    assert_eq!(statuses(&findings(&output), "objects"), ["error"]);
    let list: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = list.iter().find(|finding| finding["check"] == "objects");
    let advice = found
        .and_then(|finding| finding["advice"].as_str())
        .expect("advice");
    database.batch_execute(advice).await.expect("a statement");
    let after: String = database.query_one(policy, &[]).await.expect("it is back").get(0);
    assert_eq!(after, before);
}

/// Servers beside the database that cannot be reached.
fn check_faults(project: &Project, running: &Running) {
    let superuser = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        running.ports.database
    );
    let keys = generate_keys(project);
    let mut variables = serve_variables(&keys, &superuser);
    // No process listens on these ports.
    variables.extend([
        ("SUPABASE_AUTH_EMAIL_SMTP_PORT", "1"),
        (
            "SELVEDGE_REPLICAS_URLS",
            "postgresql://postgres:postgres@127.0.0.1:1/postgres",
        ),
    ]);
    let output = project
        .command(&["doctor", "-o", "json"])
        .envs(variables)
        .output()
        .expect("the binary runs");
    let found = findings(&output);

    assert!(!output.status.success(), "{found:?}");
    assert_eq!(statuses(&found, "mail"), ["error"], "{found:?}");
    // Its lag is unknown, and so is whether its primary_conninfo has a password.
    assert_eq!(statuses(&found, "replicas"), ["error", "warning"], "{found:?}");
    assert_eq!(statuses(&found, "schema"), ["ok"], "{found:?}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn doctor_examines_a_running_project_and_names_faults_with_advice() {
    let project = Project::new();
    let running = project.start().await;

    check_healthy_project(&project);
    check_suspicious_identities(&project).await;
    check_files_of_another_database(&project);
    check_missing_policy(&project).await;
    check_faults(&project, &running);
    running.stop();
}

#[test]
fn doctor_ends_with_an_error_when_the_database_cannot_be_reached() {
    let project = Project::new();

    let output = project.run(&[
        "doctor",
        "-o",
        "json",
        "--database-url",
        "postgresql://x:hunter2@127.0.0.1:1/z",
    ]);

    assert_eq!(statuses(&findings(&output), "database"), ["error"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = format!("{output:?}");
    assert!(!printed.contains("hunter2"), "{printed}");
}
