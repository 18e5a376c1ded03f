//! Sessions of the project's users, which an admin ends.

use super::support::Console;

const USER: &str = "00000000-0000-4000-8000-000000000001";
const OTHER: &str = "00000000-0000-4000-8000-000000000002";

async fn add_users_with_sessions(console: &Console) {
    let client = console.database.connect("supabase_auth_admin").await;
    client
        .batch_execute(&format!(
            "insert into auth.users (id, email) values ('{USER}', 'ana@example.org'), ('{OTHER}', 'bo@example.org');
             insert into auth.sessions (id, user_id, created_at, not_after, aal, ip, user_agent) values
               ('00000000-0000-4000-8000-00000000000a', '{USER}', now(), null, 'aal1', '192.0.2.1', 'phone'),
               ('00000000-0000-4000-8000-00000000000b', '{USER}', now(), null, 'aal2', null, null),
               ('00000000-0000-4000-8000-00000000000c', '{USER}', now(), now() - interval '1 hour', 'aal1', null, null),
               ('00000000-0000-4000-8000-00000000000d', '{OTHER}', now(), null, 'aal1', null, null);
             insert into auth.refresh_tokens (token, user_id, session_id)
               values ('abcdefghijkl', '{USER}', '00000000-0000-4000-8000-00000000000a');
             update auth.users set email_change = 'thief@example.org', email_change_token_new = 'x' where id = '{USER}';
             insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
               values (gen_random_uuid(), '{USER}', 'email_change_token_new', 'x', 'thief@example.org');
             insert into auth.flow_state (id, user_id, auth_code_issued_at, provider_type, authentication_method)
               values (gen_random_uuid(), '{USER}', now(), 'email', 'magiclink')"
        ))
        .await
        .expect("users with sessions");
}

#[tokio::test]
async fn console_110_sessions_of_a_user_are_listed_and_one_or_all_are_ended_with_an_entry_in_the_audit() {
    let console = Console::start().await;
    add_users_with_sessions(&console).await;
    let (viewer, admin) = (console.sign_in("vera"), console.sign_in("adam"));
    let path = format!("/api/auth/sessions?user={USER}");
    let list = || {
        let answer = console.page_as(&viewer, "GET", &path);
        assert_eq!(answer.status, 200, "{}", answer.body);
        let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        body["sessions"].as_array().unwrap().clone()
    };
    let sessions = list();
    assert_eq!(sessions.len(), 2, "a session that has expired is not listed");
    let phone = sessions
        .iter()
        .find(|session| session["user_agent"] == "phone")
        .unwrap();
    assert_eq!(
        (phone["ip"].as_str(), phone["aal"].as_str()),
        (Some("192.0.2.1"), Some("aal1"))
    );

    let one = "/api/auth/sessions/00000000-0000-4000-8000-00000000000a";
    assert_eq!(console.page_as(&admin, "DELETE", one).status, 204);
    assert_eq!(console.page_as(&admin, "DELETE", one).status, 404);
    assert_eq!(list().len(), 1);
    assert_eq!(console.page_as(&admin, "DELETE", &path).status, 204);
    assert_eq!(list().len(), 0);

    let client = console.database.connect("postgres").await;
    let row = client
        .query_one(
            "select (select count(*) from auth.sessions), (select count(*) from auth.refresh_tokens),
                    (select string_agg(action || ' ' || account, ', ' order by id) from selvedge_console.selvedge_audit
                     where action like 'auth.%' and target = $1)",
            &[&USER],
        )
        .await
        .unwrap();
    let (sessions, tokens, entries): (i64, i64, String) = (row.get(0), row.get(1), row.get(2));
    assert_eq!((sessions, tokens), (1, 0), "other users stay signed in");
    assert_eq!(entries, "auth.sessions.end adam, auth.sessions.end_all adam");
    // What was begun in the sessions has ended as well.
    let begun =
        "select (select count(*) from auth.users where email_change <> '' or email_change_token_new <> '')
        + (select count(*) from auth.one_time_tokens) + (select count(*) from auth.flow_state)";
    let begun: i64 = client.query_one(begun, &[]).await.unwrap().get(0);
    assert_eq!(begun, 0);
    // The console of a local project logs in as `postgres`.
    let end = format!("select _selvedge.end_sessions('{OTHER}', null, true, now())");
    let ended: i64 = client.query_one(&end, &[]).await.unwrap().get(0);
    assert_eq!(ended, 1);
}

#[tokio::test]
async fn console_110_the_newest_users_and_those_with_an_address_are_read_by_an_index() {
    let console = Console::start_without_login().await;
    let client = console.database.connect("selvedge_console_reader").await;
    // A small table is read as a whole, so the question is whether an index could serve the order and the search.
    client
        .batch_execute("set enable_seqscan = off; set enable_sort = off")
        .await
        .unwrap();
    for (query, index) in [
        (
            "select id from auth.users order by created_at desc nulls last, id desc limit 100",
            "users_created_at_id_idx",
        ),
        (
            "select id from auth.users where email >= 'a' and email < 'b' order by email, id limit 100",
            "users_email_id_idx",
        ),
    ] {
        let rows = client.query(&format!("explain {query}"), &[]).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        assert!(plan.contains(index) && !plan.contains("Sort"), "{plan}");
    }
}
