//! `/admin` and `/invite`: users, links, invitations and rights of administrators.

use reqwest::Method;
use selvedge_token::development;
use serde_json::{Value, json};

use crate::app::{PASSWORD, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_056_a_created_user_signs_in_at_once() {
    let app = TestApp::start().await;
    let body = json!({
        "email": "Ana@example.com", "password": PASSWORD, "email_confirm": true,
        "user_metadata": {"name": "Ana"}, "app_metadata": {"plan": "pro"},
    });

    let created = app.admin_create(body).await;

    assert_eq!(created.status, 200, "{}", created.body);
    assert_eq!(
        created.body["app_metadata"],
        json!({"plan": "pro", "provider": "email", "providers": ["email"]})
    );
    let session = app.sign_in("ana@example.com", PASSWORD).await.session();
    assert_eq!(session.user["user_metadata"]["name"], "Ana");
    assert_eq!(app.mail_count(), 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_057_creating_a_user_with_a_taken_address_is_rejected() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;

    let again = app.admin_create(json!({"email": "ANA@example.com"})).await;

    assert_eq!(again.error(), (422, "email_exists"));
    assert_eq!(
        app.admin_create(json!({})).await.error(),
        (400, "validation_failed")
    );
    let phone = json!({"phone": "+49 151 123", "phone_confirm": true});
    assert_eq!(app.admin_create(phone.clone()).await.body["phone"], "49151123");
    assert_eq!(app.admin_create(phone).await.error(), (422, "phone_exists"));
}

/// The statement that chooses the users of a page.
const LIST_USERS: &str = include_str!("../../sql/list_users.sql");

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_058_a_page_of_many_users_is_read_from_an_index() {
    let app = TestApp::start().await;
    app.sql(
        "insert into auth.users (id, aud, email, created_at)
         select gen_random_uuid(), 'authenticated', 'u' || n || '@example.com', now() + n * interval '1 second'
         from generate_series(1, 20000) n",
        &[],
    )
    .await;
    app.sql("analyze auth.users", &[]).await;
    let statement = LIST_USERS
        .replace("$1::text", "'authenticated'::text")
        .replace("$2::text", "''::text");

    for order in [
        "u.created_at desc nulls last, u.id desc",
        "u.created_at asc nulls first, u.id asc",
    ] {
        let plan = app
            .sql(
                &format!("explain {statement} order by {order} limit 50 offset 0"),
                &[],
            )
            .await;

        let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
        assert!(
            plan.iter().any(|line| line.contains("created_at_id_idx")),
            "{plan:#?}"
        );
        assert!(!plan.iter().any(|line| line.contains("Sort")), "{plan:#?}");
    }
    let newest = app.get("/admin/users?per_page=1").admin().send().await;
    let oldest = app
        .get("/admin/users?per_page=1&sort=created_at%20asc")
        .admin()
        .send()
        .await;
    assert_eq!(newest.body["users"][0]["email"], "u20000@example.com");
    assert_eq!(oldest.body["users"][0]["email"], "u1@example.com");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_058_user_lists_are_paginated() {
    let app = TestApp::start().await;
    app.sql(
        "insert into auth.users (id, aud, email, created_at, raw_user_meta_data)
         select gen_random_uuid(), 'authenticated', 'u' || n || '@example.com', now() + n * interval '1 second',
                jsonb_build_object('full_name', 'User ' || n) from generate_series(1, 60) n",
        &[],
    )
    .await;
    let list = |path: &str| app.get(path).admin().send();

    let first = list("/admin/users?page=&per_page=").await;
    let second = list("/admin/users?page=2&per_page=50").await;
    let found = list("/admin/users?filter=user 6").await;

    assert_eq!(first.body["users"].as_array().unwrap().len(), 50);
    assert_eq!(first.body["users"][0]["email"], "u60@example.com");
    assert_eq!(
        (first.header("x-total-count"), &first.body["aud"]),
        ("60", &json!("authenticated"))
    );
    assert!(
        first
            .header("link")
            .contains("?page=2&per_page=50>; rel=\"next\"")
    );
    assert_eq!(second.body["users"].as_array().unwrap().len(), 10);
    assert!(!second.header("link").contains("next"));
    assert_eq!(found.body["users"].as_array().unwrap().len(), 2);
    assert_eq!(list("/admin/users?filter=%25").await.body["users"], json!([]));
    assert_eq!(
        list("/admin/users?page=x").await.error(),
        (400, "validation_failed")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_059_changed_app_metadata_is_in_the_next_token() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let path = format!("/admin/users/{}", session.user_id());

    let response = app
        .put(
            &path,
            json!({"app_metadata": {"role": "admin"}, "user_metadata": {"x": 1}}),
        )
        .admin()
        .send()
        .await;

    assert_eq!(
        response.body["app_metadata"],
        json!({"role": "admin", "provider": "email", "providers": ["email"]})
    );
    let next = app.refresh(&session.refresh_token).await.session();
    let claims = app.keys.verify(&next.access_token).unwrap();
    assert_eq!(claims.get("app_metadata").unwrap()["role"], "admin");
    assert_eq!(claims.role(), Some("authenticated"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn admins_change_addresses_and_passwords_at_once() {
    let app = TestApp::start().await;
    app.user("bea@example.com").await;
    let session = app.user("ana@example.com").await;
    let update = |body: Value| {
        app.put(&format!("/admin/users/{}", session.user_id()), body)
            .admin()
            .send()
    };

    assert_eq!(
        update(json!({"email": "bea@example.com"})).await.error(),
        (422, "email_exists")
    );
    assert_eq!(
        update(json!({"password": "12345"})).await.error(),
        (422, "weak_password")
    );
    let changed = update(json!({"email": "new@example.com", "password": "a better one"})).await;

    assert_eq!(changed.body["identities"][0]["email"], "new@example.com");
    assert_eq!(
        app.get("/user")
            .bearer(&session.access_token)
            .send()
            .await
            .error(),
        (403, "session_not_found")
    );
    assert_eq!(app.sign_in("new@example.com", "a better one").await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_060_users_are_deleted_hard_or_soft() {
    let app = TestApp::start().await;
    let hard = app.user("ana@example.com").await;
    let soft = app.user("bea@example.com").await;
    let delete = |id: uuid::Uuid| app.call(Method::DELETE, &format!("/admin/users/{id}")).admin();

    let hard_answer = delete(hard.user_id()).send().await;
    let soft_answer = delete(soft.user_id())
        .json(&json!({"should_soft_delete": true}))
        .send()
        .await;

    assert_eq!((hard_answer.status, hard_answer.body), (200, json!({})));
    assert_eq!((soft_answer.status, soft_answer.body), (200, json!({})));
    assert_eq!(
        delete(hard.user_id()).send().await.error(),
        (404, "user_not_found")
    );
    assert_eq!(app.count("select count(*) from auth.sessions").await, 0);
    let kept = app
        .sql(
            "select id, email, raw_user_meta_data::text, deleted_at is not null from auth.users",
            &[],
        )
        .await;
    assert_eq!((kept.len(), kept[0].get::<_, uuid::Uuid>(0)), (1, soft.user_id()));
    assert!(!kept[0].get::<_, String>(1).contains('@'));
    assert_eq!(
        (kept[0].get::<_, String>(2).as_str(), kept[0].get::<_, bool>(3)),
        ("{}", true)
    );
    let identities = app
        .sql(
            "select provider_id, identity_data::text from auth.identities",
            &[],
        )
        .await;
    assert_eq!(identities[0].get::<_, String>(0).len(), 43);
    assert_eq!(
        app.sign_up("bea@example.com", PASSWORD).await.body["identities"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_061_only_admins_reach_admin_routes() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let id = session.user_id();
    let routes = [
        (Method::GET, "/admin/users".to_owned()),
        (Method::POST, "/admin/users".to_owned()),
        (Method::GET, format!("/admin/users/{id}")),
        (Method::PUT, format!("/admin/users/{id}")),
        (Method::DELETE, format!("/admin/users/{id}")),
        (Method::POST, "/admin/generate_link".to_owned()),
        (Method::POST, "/invite".to_owned()),
        (Method::GET, "/admin/audit".to_owned()),
        (Method::GET, "/admin/sso/providers".to_owned()),
        (Method::GET, "/admin/oauth/clients".to_owned()),
    ];
    for (method, path) in routes {
        let user = app
            .call(method.clone(), &path)
            .json(&json!({}))
            .bearer(&session.access_token)
            .send()
            .await;
        let anon = app
            .call(method.clone(), &path)
            .json(&json!({}))
            .bearer(&development::anon_key())
            .send()
            .await;
        let forged = app
            .call(method, &path)
            .json(&json!({}))
            .bearer("a.b.c")
            .send()
            .await;
        assert_eq!(user.error(), (403, "not_admin"), "{path}");
        assert_eq!(anon.error(), (403, "not_admin"), "{path}");
        assert_eq!(forged.error(), (403, "bad_jwt"), "{path}");
    }
    let secret = app
        .get("/admin/users")
        .header("apikey", &development::secret_key())
        .send()
        .await;
    assert_eq!(secret.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_062_opening_an_invitation_confirms_and_signs_in() {
    let app = TestApp::start().await;

    let invited = app
        .post(
            "/invite",
            json!({"email": "ana@example.com", "data": {"team": 7}}),
        )
        .admin()
        .send()
        .await;
    let mail = app.mail_to("ana@example.com");
    let meddling = app.sign_up("ana@example.com", PASSWORD).await;

    assert!(invited.body["invited_at"].is_string());
    assert_eq!(
        (mail.subject.as_str(), mail.param("type").as_str()),
        ("You've been invited", "invite")
    );
    assert_eq!(
        (&meddling.body["identities"], &meddling.body["user_metadata"]),
        (&json!([]), &json!({}))
    );
    app.post("/invite", json!({"email": "ana@example.com"}))
        .admin()
        .send()
        .await;
    let opened = app.get(&app.mail_to("ana@example.com").link).send().await;
    assert_eq!(opened.in_fragment("type").unwrap(), "invite");
    let user = app
        .get("/user")
        .bearer(&opened.in_fragment("access_token").unwrap())
        .send()
        .await;
    assert_eq!(user.body["user_metadata"]["team"], 7);
    let again = app
        .post("/invite", json!({"email": "ana@example.com"}))
        .admin()
        .send()
        .await;
    assert_eq!(again.error(), (422, "email_exists"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_063_generated_links_work_by_link_and_by_code() {
    let app = TestApp::start().await;
    let generate = |body: Value| app.post("/admin/generate_link", body).admin().send();
    app.user("known@example.com").await;
    let cases = [
        (
            json!({"type": "signup", "email": "a@example.com", "password": PASSWORD}),
            "signup",
        ),
        (json!({"type": "invite", "email": "b@example.com"}), "invite"),
        (
            json!({"type": "magiclink", "email": "known@example.com"}),
            "magiclink",
        ),
        (json!({"type": "magiclink", "email": "c@example.com"}), "signup"),
        (
            json!({"type": "recovery", "email": "known@example.com"}),
            "recovery",
        ),
    ];
    for (body, verification_type) in cases {
        let by_code = generate(body.clone()).await;
        assert_eq!(by_code.status, 200, "{}", by_code.body);
        assert_eq!(by_code.body["verification_type"], verification_type);
        assert_eq!(by_code.body["redirect_to"], "https://site.example");
        let by_link = generate(body.clone()).await;
        let opened = app
            .get(by_link.body["action_link"].as_str().unwrap())
            .send()
            .await;
        assert!(
            opened.in_fragment("access_token").is_some(),
            "{body} {:?}",
            opened.headers
        );
        if verification_type == "recovery" {
            let code = generate(body.clone()).await.body["email_otp"].clone();
            let verified = json!({"type": "recovery", "email": body["email"], "token": code});
            app.post("/verify", verified).send().await.session();
        }
    }
    assert_eq!(app.mail_count(), 0);
    assert_eq!(
        generate(json!({"type": "recovery", "email": "x@example.com"}))
            .await
            .error(),
        (404, "user_not_found")
    );
    assert_eq!(
        generate(json!({"type": "signup", "email": "known@example.com", "password": PASSWORD}))
            .await
            .error(),
        (422, "email_exists")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_063_generated_links_of_an_email_change_work_together() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;
    let generate = |kind: &str| {
        let body = json!({"type": kind, "email": "ana@example.com", "new_email": "new@example.com"});
        app.post("/admin/generate_link", body).admin().send()
    };
    let current = generate("email_change_current").await;
    let new = generate("email_change_new").await;
    assert_eq!(current.body["verification_type"], "email_change_current");

    let half = app
        .get(current.body["action_link"].as_str().unwrap())
        .send()
        .await;
    let done = app.get(new.body["action_link"].as_str().unwrap()).send().await;

    assert!(half.in_fragment("message").is_some(), "{:?}", half.headers);
    assert_eq!(done.in_fragment("type").unwrap(), "email_change");
    assert_eq!(app.sign_in("new@example.com", PASSWORD).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_064_banned_users_cannot_sign_in_until_the_ban_is_lifted() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let ban = |duration: &str| {
        app.put(
            &format!("/admin/users/{}", session.user_id()),
            json!({"ban_duration": duration}),
        )
        .admin()
        .send()
    };

    assert!(ban("24h").await.body["banned_until"].is_string());
    assert_eq!(
        app.sign_in("ana@example.com", PASSWORD).await.error(),
        (400, "user_banned")
    );
    assert_eq!(
        app.refresh(&session.refresh_token).await.error(),
        (400, "refresh_token_not_found"),
        "the ban has ended the session"
    );
    assert_eq!(
        app.get("/user")
            .bearer(&session.access_token)
            .send()
            .await
            .error(),
        (403, "user_banned")
    );
    assert!(ban("none").await.body.get("banned_until").is_none());
    assert_eq!(app.sign_in("ana@example.com", PASSWORD).await.status, 200);
    assert_eq!(ban("tomorrow").await.error(), (400, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_single_user_is_found_by_id_only() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let get = |id: &str| app.get(&format!("/admin/users/{id}")).admin().send();

    assert_eq!(
        get(&session.user_id().to_string()).await.body["email"],
        "ana@example.com"
    );
    assert_eq!(
        get(&uuid::Uuid::new_v4().to_string()).await.error(),
        (404, "user_not_found")
    );
    assert_eq!(get("ana@example.com").await.error(), (404, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_audit_log_can_be_searched() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;
    let list = |query: &str| app.get(&format!("/admin/audit?query={query}")).admin().send();

    let logins = list("action:login").await;

    assert_eq!(logins.body.as_array().unwrap().len(), 1);
    assert_eq!(logins.body[0]["payload"]["actor_username"], "ana@example.com");
    assert_eq!(logins.header("x-total-count"), "1");
    assert_eq!(list("").await.body.as_array().unwrap().len(), 2);
    for pattern in ["action:log%25", "action:l_gin", "author:%25", "action:%5C"] {
        assert_eq!(
            list(pattern).await.body,
            json!([]),
            "{pattern}: `%`, `_` and `\\` are ordinary characters"
        );
    }
    assert_eq!(list("nonsense:x").await.error(), (400, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_090_imported_hashes_sign_in() {
    let app = TestApp::start().await;
    let argon2 = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
    let body = json!({"email": "ana@example.com", "password_hash": argon2, "email_confirm": true});

    assert_eq!(app.admin_create(body).await.status, 200);
    assert_eq!(app.sign_in("ana@example.com", "password").await.status, 200);
    assert_eq!(
        app.sign_in("ana@example.com", "wrong").await.error(),
        (400, "invalid_credentials")
    );
    let unknown = app
        .admin_create(json!({"email": "b@example.com", "password_hash": "$1$md5$x"}))
        .await;
    assert_eq!(unknown.error(), (400, "validation_failed"));
    let both = json!({"email": "b@example.com", "password": "x", "password_hash": argon2});
    assert_eq!(app.admin_create(both).await.error(), (400, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_061_an_admin_user_loses_admin_rights_when_the_session_ends() {
    let app =
        TestApp::start_with(|config| config.sessions.timebox = Some(std::time::Duration::from_secs(3600)))
            .await;
    let chief = json!({
        "email": "chief@example.com", "password": PASSWORD, "email_confirm": true, "role": "supabase_admin",
    });
    let chief = app.admin_create(chief).await.body;
    let path = format!("/admin/users/{}", chief["id"].as_str().unwrap());
    let sign_in = async || {
        app.sign_in("chief@example.com", PASSWORD)
            .await
            .session()
            .access_token
    };
    let list = async |token: &str| app.get("/admin/users").bearer(token).send().await;

    let token = sign_in().await;
    assert_eq!(list(&token).await.status, 200);
    app.post("/logout", json!({})).bearer(&token).send().await;
    assert_eq!(list(&token).await.error(), (403, "session_not_found"));

    let token = sign_in().await;
    let noted = "select count(*) from _selvedge.selvedge_ended_users where until > now()";
    app.put(&path, json!({"ban_duration": "1h"})).admin().send().await;
    assert_eq!(list(&token).await.error(), (403, "user_banned"));
    assert_eq!(app.count(noted).await, 1, "Realtime looks here");
    app.put(&path, json!({"ban_duration": "none"}))
        .admin()
        .send()
        .await;
    assert_eq!(app.count(noted).await, 0);
    assert_eq!(
        list(&token).await.error(),
        (403, "session_not_found"),
        "the ban has ended it"
    );

    let token = sign_in().await;
    app.sql(
        "update auth.sessions set created_at = now() - interval '2 hours'",
        &[],
    )
    .await;
    let late = list(&token).await;
    assert_eq!(
        (late.error(), late.message()),
        ((403, "session_expired"), "Session is no longer valid")
    );
    assert_eq!(
        app.get("/admin/users").admin().send().await.status,
        200,
        "keys have no session"
    );
}
