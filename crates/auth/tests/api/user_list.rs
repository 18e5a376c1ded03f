//! Pages of many users and their number, which triggers keep: exact after everything that changes users, and read without counting them.

use uuid::Uuid;

use super::app::TestApp;

/// The list's page, and the number of all users, next to what the table says.
async fn check_pages(app: &TestApp, after: &str) {
    let total: i64 = app
        .count("select count(*) from auth.users where coalesce(aud, '') = 'authenticated' and coalesce(instance_id, $$00000000-0000-0000-0000-000000000000$$) = $$00000000-0000-0000-0000-000000000000$$")
        .await;
    for (sort, order) in [
        ("desc", "created_at desc nulls last, id desc"),
        ("asc", "created_at asc nulls first, id asc"),
    ] {
        let expected: Vec<String> = app
            .sql(
                &format!(
                    "select id from auth.users where coalesce(aud, '') = 'authenticated'
                     and coalesce(instance_id, $$00000000-0000-0000-0000-000000000000$$) = $$00000000-0000-0000-0000-000000000000$$ order by {order}"
                ),
                &[],
            )
            .await
            .iter()
            .map(|row| row.get::<_, Uuid>(0).to_string())
            .collect();
        for page in 1..=expected.len() / 7 + 2 {
            let path = format!("/admin/users?page={page}&per_page=7&sort=created_at%20{sort}");
            let answer = app.get(&path).admin().send().await;
            let listed: Vec<&str> = answer.body["users"]
                .as_array()
                .expect("users")
                .iter()
                .map(|user| user["id"].as_str().expect("an id"))
                .collect();
            let wanted: Vec<&str> = expected
                .iter()
                .skip((page - 1) * 7)
                .take(7)
                .map(String::as_str)
                .collect();
            assert_eq!(listed, wanted, "page {page} {sort} after {after}");
            assert_eq!(
                answer.header("x-total-count"),
                total.to_string(),
                "page {page} {sort} after {after}"
            );
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_058_pages_and_their_number_are_exact_after_every_change_of_users() {
    let app = TestApp::start().await;
    let insert = |from: u32, to: u32, gap: &str| {
        format!(
            "insert into auth.users (id, instance_id, aud, email, created_at)
             select gen_random_uuid(), case when n % 2 = 0 then '00000000-0000-0000-0000-000000000000'::uuid end, 'authenticated',
                    'u' || n || '@example.com', timestamptz '2026-03-01 23:50:00+00' + n / 3 * interval '{gap}'
             from generate_series({from}, {to}) n"
        )
    };
    check_pages(&app, "nothing").await;
    app.clean_up().await;
    let changes = [
        insert(1, 40, "7 hours"),
        "delete from auth.users where email ~ '[37]@'".to_owned(),
        "update auth.users set created_at = created_at - interval '3 days', updated_at = now() where email ~ '[24]@'".to_owned(),
        "update auth.users set aud = 'other' where email ~ '5@'".to_owned(),
        "update auth.users set instance_id = gen_random_uuid() where email ~ '6@'".to_owned(),
        "begin; set local session_replication_role = replica; delete from auth.users where email ~ '8@'; commit".to_owned(),
        format!("begin; {}; rollback", insert(100, 120, "1 day")),
        "update auth.users set aud = 'authenticated', instance_id = null".to_owned(),
        format!(
            "alter table auth.users disable trigger all; {}; alter table auth.users enable trigger all",
            insert(200, 210, "1 day")
        ),
        "alter table auth.users enable always trigger selvedge_count_added, enable always trigger selvedge_count_removed,
           enable always trigger selvedge_count_moved, enable always trigger selvedge_count_truncated".to_owned(),
        "update auth.users set created_at = null where email ~ '20[0-3]@'".to_owned(),
        "delete from auth.users where created_at is null".to_owned(),
        "update auth.users set created_at = 'infinity' where email ~ '204@';
         update auth.users set created_at = '294276-12-31' where email ~ '205@';
         delete from auth.users where created_at > '9000-01-01'".to_owned(),
        "truncate auth.users cascade".to_owned(),
        insert(300, 310, "1 day"),
    ];
    for change in &changes {
        app.superuser().await.batch_execute(change).await.expect(change);
        check_pages(&app, change).await;
        app.clean_up().await;
        check_pages(&app, &format!("{change} and a clean-up")).await;
    }
    let kept = app
        .count("select count(*) from _selvedge.selvedge_user_counts_state where triggers = _selvedge.describe_user_triggers()")
        .await;
    assert_eq!(kept, 1, "the kept counts are used");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_058_clean_ups_of_two_nodes_at_the_same_time_correct_the_number_once() {
    let app = TestApp::start().await;
    app.sql(
        "insert into auth.users (id, aud, created_at)
         select gen_random_uuid(), 'authenticated', now() from generate_series(1, 500)",
        &[],
    )
    .await;
    app.sql("delete from _selvedge.selvedge_user_counts", &[]).await;

    futures_util::join!(app.clean_up(), app.clean_up(), app.clean_up());

    check_total(&app, 500).await;
    assert_eq!(
        app.count("select sum(change)::bigint from _selvedge.selvedge_user_counts")
            .await,
        500
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_058_rows_that_cannot_be_deleted_keep_no_clean_up_from_the_rest() {
    let app = TestApp::start().await;
    app.superuser()
        .await
        .batch_execute(
            "insert into auth.users (id, aud, created_at) select gen_random_uuid(), 'authenticated', now() from generate_series(1, 20);
             insert into auth.flow_state (id, provider_type, authentication_method, created_at)
               values (gen_random_uuid(), 'email', 'recovery', now() - interval '25 hours');
             create table public.refers (flow uuid references auth.flow_state (id));
             insert into public.refers select id from auth.flow_state;
             insert into auth.sessions (id, user_id, created_at, not_after)
               select gen_random_uuid(), id, now() - interval '9 days', now() - interval '4 days' from auth.users;
             delete from _selvedge.selvedge_user_counts",
        )
        .await
        .expect("rows");

    app.clean_up().await;

    assert_eq!(
        app.count("select count(*) from auth.flow_state").await,
        1,
        "it is referred to"
    );
    assert_eq!(app.count("select count(*) from auth.sessions").await, 0);
    check_total(&app, 20).await;
    assert_eq!(
        app.count("select sum(change)::bigint from _selvedge.selvedge_user_counts")
            .await,
        20
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_058_counts_are_believed_again_after_a_restore_without_triggers() {
    const ARE_KEPT: &str = "select count(*) from _selvedge.selvedge_user_counts_state where triggers = _selvedge.describe_user_triggers()";
    let app = TestApp::start().await;
    let superuser = app.superuser().await;
    let restore = "alter table auth.users disable trigger all;
        insert into auth.users (id, aud, created_at) select gen_random_uuid(), 'authenticated', now() from generate_series(1, 3);
        alter table auth.users enable trigger all";
    superuser.batch_execute(restore).await.expect("restored");
    assert_eq!(app.count(ARE_KEPT).await, 0);

    app.clean_up().await;

    assert_eq!(app.count(ARE_KEPT).await, 1);
    check_total(&app, 3).await;
    // A disabled trigger is somebody's choice, so the clean-up leaves it disabled.
    let disable = "alter table auth.users disable trigger selvedge_count_added";
    superuser.batch_execute(disable).await.expect("disabled");
    app.clean_up().await;
    let disabled =
        "select count(*) from pg_trigger where tgname = 'selvedge_count_added' and tgenabled = 'D'";
    assert_eq!(app.count(disabled).await, 1);
}

async fn check_total(app: &TestApp, expected: usize) {
    let answer = app.get("/admin/users?per_page=1").admin().send().await;
    assert_eq!(answer.header("x-total-count"), expected.to_string());
}

/// The rows that the scan of users in a plan has read, from `actual rows=…`.
fn rows_of_scan(plan: &[String]) -> f64 {
    let line = plan
        .iter()
        .find(|line| line.contains("Scan") && line.contains("users"))
        .expect("a scan of users");
    let (_, actual) = line.split_once("actual rows=").expect("an analyzed plan");
    let number: String = actual
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    number.parse().expect("a number")
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_058_of_a_hundred_thousand_users_no_page_reads_more_than_a_day() {
    let app = TestApp::start().await;
    app.clean_up().await;
    app.sql(
        "insert into auth.users (id, instance_id, aud, email, created_at)
         select gen_random_uuid(), '00000000-0000-0000-0000-000000000000', 'authenticated', 'u' || n || '@example.com',
                timestamptz '2026-01-01 00:00:00+00' + n * interval '1 minute'
         from generate_series(1, 100000) n",
        &[],
    )
    .await;
    app.sql("vacuum analyze auth.users", &[]).await;
    let all = include_str!("../../sql/list_all_users.sql").replace("$1::text", "'authenticated'::text");
    let start = include_str!("../../sql/find_user_page.sql")
        .replace("$1::text", "'authenticated'::text")
        .replace("$3::boolean", "false");

    for offset in [0, 50_000, 99_990] {
        let found = app
            .sql(&start.replace("$2::bigint", &offset.to_string()), &[])
            .await;
        let (total, skipped): (i64, i64) = (found[0].get("total"), found[0].get("skipped"));
        let bound: chrono::DateTime<chrono::Utc> = found[0].get("bound");
        assert_eq!(total, 100_000);
        let page = format!(
            "explain (analyze, timing off) {all} and u.created_at < '{bound}' order by u.created_at desc nulls last, u.id desc
             limit 50 offset {}",
            offset - skipped
        );
        let plan: Vec<String> = app.sql(&page, &[]).await.iter().map(|row| row.get(0)).collect();

        let index = "Index Only Scan using users_audience_created_at_id_idx";
        assert!(plan.iter().any(|line| line.contains(index)), "{plan:#?}");
        assert!(!plan.iter().any(|line| line.contains("Sort")), "{plan:#?}");
        assert!(rows_of_scan(&plan) <= 1440.0 + 50.0, "{plan:#?}");
        let counts: Vec<String> = app
            .sql(&format!("explain {}", start.replace("$2::bigint", "0")), &[])
            .await
            .iter()
            .map(|row| row.get(0))
            .collect();
        assert!(
            !counts.iter().any(|line| line.contains(" on users")),
            "{counts:#?}"
        );
    }
}
