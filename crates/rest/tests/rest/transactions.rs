//! What the transaction of a request leaves behind: nothing after a failure, and nothing of its caller for the next one on the
//! same connection.

use selvedge_rest::RestConfig;
use serde_json::{Value, json};

use crate::support::{ANA, Client, TestApp, TestResponse};

/// The function before each request writes, so that every write has something to undo. An amount of -1 is refused by the
/// statement, one of -2 at the commit. Refusals name the server process, which is one for each connection.
const ORDERS: &str = "
    create table public.visits (who text);
    create function public.note_visit() returns void language plpgsql security definer as $$ begin
      if current_setting('transaction_read_only') = 'off' then
        insert into public.visits values (auth.uid()::text);
      end if;
    end $$;
    create table public.orders (id int primary key, amount int not null);
    create function public.refuse() returns trigger language plpgsql as $$ begin
      raise exception using message = pg_backend_pid()::text;
    end $$;
    create trigger refuse_now after insert on public.orders for each row when (new.amount = -1)
      execute function public.refuse();
    create constraint trigger refuse_at_commit after insert on public.orders deferrable initially deferred
      for each row when (new.amount = -2) execute function public.refuse();
    create function public.seen() returns json language sql volatile as $$
      select json_build_object('pid', pg_backend_pid()::text, 'role', current_user, 'uid', auth.uid(),
        'claims', current_setting('request.jwt.claims')::json, 'path', current_setting('request.path'),
        'secret', current_setting('request.headers')::json ->> 'x-secret',
        'setting', nullif(current_setting('app.of_caller', true), '')) $$;
    create function public.change_settings() returns json language sql volatile as $$
      select json_build_object('pid', pg_backend_pid()::text,
        'changed', concat(set_config('app.of_caller', 'x', true), set_config('request.jwt.claim.sub', auth.uid()::text, true))) $$;
    grant usage on schema public to anon, authenticated, service_role;
    grant execute on all functions in schema public to anon, authenticated, service_role;
    grant all on public.orders to authenticated, service_role;";

async fn start_orders() -> TestApp {
    let config = RestConfig {
        pre_request: Some("public.note_visit".to_owned()),
        transaction_end: selvedge_rest::TransactionEnd::CommitAllowOverride,
        ..RestConfig::default()
    };
    TestApp::start_with(ORDERS, config).await
}

async fn count(app: &TestApp, table: &str) -> i64 {
    let sql = format!("select count(*) from public.{table}");
    let superuser = app.database.superuser().await;
    superuser.query_one(&sql, &[]).await.expect("a count").get(0)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_004_a_failure_in_the_middle_of_a_request_leaves_nothing_behind() {
    let app = start_orders().await;
    let ana = app.user(ANA);
    let order = |id: i32, amount: i32| json!({ "id": id, "amount": amount });

    // Again and again, because a statement takes other ways once it is prepared.
    for _ in 0..4 {
        for amount in [-1, -2] {
            for body in [order(1, amount), json!([order(1, 5), order(2, amount)])] {
                let refused = ana.post("/orders", &body).await;
                assert_eq!(
                    (refused.status, refused.code().as_str()),
                    (400, "P0001"),
                    "{body}"
                );
            }
        }
        // Refused after the statement, because two rows are no single object.
        let object = [
            ("accept", "application/vnd.pgrst.object+json"),
            ("prefer", "return=representation"),
        ];
        let two = ana
            .post_with("/orders", &object, &json!([order(1, 1), order(2, 2)]))
            .await;
        assert_eq!(two.status, 406, "{}", two.text);
        let dry_run = ana
            .post_with("/orders", &[("prefer", "tx=rollback")], &order(1, 1))
            .await;
        assert_eq!(dry_run.status, 201, "{}", dry_run.text);
    }
    assert_eq!((count(&app, "orders").await, count(&app, "visits").await), (0, 0));

    let accepted = ana.post("/orders", &order(1, 1)).await;
    assert_eq!(accepted.status, 201, "{}", accepted.text);
    assert_eq!((count(&app, "orders").await, count(&app, "visits").await), (1, 1));
}

/// The server process that answered: by the result of a function, or by a refusal.
fn read_process(response: &TestResponse) -> String {
    let body = response.json();
    let process = body["pid"].as_str().or_else(|| body["message"].as_str());
    process.expect("a process").to_owned()
}

/// Sends a request of a user that leaves in the session what it may, and returns the server process that ran it.
async fn send_with_secrets(client: &Client, path: &str, body: &Value) -> String {
    let headers = [("x-secret", "of ana")];
    read_process(&client.post_with(path, &headers, body).await)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_003_nothing_of_a_caller_is_seen_by_the_next_on_the_same_connection_even_after_errors() {
    let app = start_orders().await;
    let (ana, anon) = (app.user(ANA), app.anon());

    for (path, body) in [
        ("/rpc/seen", json!({})),
        ("/rpc/change_settings", json!({})),
        ("/orders", json!({ "id": 1, "amount": -1 })),
        ("/orders", json!({ "id": 1, "amount": -2 })),
    ] {
        let mut shared = 0;
        // The pool chooses the connection, so pairs that did not share one are tried again.
        for _ in 0..50 {
            let process = send_with_secrets(&ana, path, &body).await;
            let next = anon.post("/rpc/seen", &json!({})).await;
            let expected = json!({
                "pid": read_process(&next), "role": "anon", "uid": null, "claims": { "role": "anon" },
                "path": "/rpc/seen", "secret": null, "setting": null,
            });
            assert_eq!(next.json(), expected, "after {path} {body}");
            shared += usize::from(read_process(&next) == process);
            if shared == 3 {
                break;
            }
        }
        assert_eq!(shared, 3, "no connection was shared after {path} {body}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_086_a_write_with_max_affected_whose_plan_is_asked_for_changes_nothing() {
    let config = RestConfig {
        plan_enabled: true,
        ..RestConfig::default()
    };
    let app = TestApp::start_with(ORDERS, config).await;
    let service = app.service_role();
    for id in 1..=3 {
        let order = json!({ "id": id, "amount": 1 });
        assert_eq!(service.post("/orders", &order).await.status, 201);
    }
    let analyzed = ("accept", "application/vnd.pgrst.plan+json; options=analyze");
    let delete = async |prefer: &str| {
        let headers = [analyzed, ("prefer", prefer)];
        service.send("DELETE", "/orders?id=gt.1", &headers, None).await
    };

    // How many rows it affects is not in the response, so the limit cannot be checked.
    let limited = delete("handling=strict, max-affected=1").await;
    assert_eq!(limited.status, 200, "{}", limited.text);
    assert_eq!(count(&app, "orders").await, 3);
    assert_eq!(delete("handling=strict").await.status, 200);
    assert_eq!(count(&app, "orders").await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_050_dates_are_written_alike_under_a_function_s_date_style() {
    let config = RestConfig {
        hoisted_settings: vec!["datestyle".to_owned()],
        ..RestConfig::default()
    };
    let schema = "
        create table public.days (day date);
        insert into public.days values ('2024-12-31');
        create function public.days_of() returns setof public.days language sql stable set datestyle = 'German, DMY'
          as 'select * from public.days';
        grant usage on schema public to anon;
        grant select on public.days to anon;
        grant execute on function public.days_of() to anon;";
    let app = TestApp::start_with(schema, config).await;

    // Again and again, because the rows are written by this process once the statement is prepared.
    for _ in 0..4 {
        let days = app.anon().get("/rpc/days_of").await;
        assert_eq!(days.json(), json!([{ "day": "2024-12-31" }]));
    }
}
