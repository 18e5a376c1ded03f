//! Users and sessions from the dump of a Supabase project, as `pg_dump --data-only` writes it.

use serde_json::json;

use crate::app::TestApp;

const USER_ID: &str = "8a3c2b1d-0f4e-4c5a-9b6d-7e8f90a1b2c3";
const SESSION_ID: &str = "5d4c3b2a-1f0e-4d9c-8b7a-6958473625a1";

/// Builds a dump with one user and one session, in which every table has all columns of GoTrue's except generated ones.
/// Its two refresh tokens have the two formats of GoTrue's rows: 12 characters of base 32, and 22 characters of
/// base64url.
fn build_dump(password_hash: &str) -> String {
    format!(
        "insert into auth.schema_migrations (version) values ('20171026211738'), ('20260625000000');
         insert into auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, invited_at,
           confirmation_token, confirmation_sent_at, recovery_token, recovery_sent_at, email_change_token_new, email_change,
           email_change_sent_at, last_sign_in_at, raw_app_meta_data, raw_user_meta_data, is_super_admin, created_at, updated_at,
           phone, phone_confirmed_at, phone_change, phone_change_token, phone_change_sent_at, email_change_token_current,
           email_change_confirm_status, banned_until, reauthentication_token, reauthentication_sent_at, is_sso_user, deleted_at,
           is_anonymous)
         values ('00000000-0000-0000-0000-000000000000', '{USER_ID}', 'authenticated', 'authenticated', 'ana@example.com',
           '{password_hash}', '2024-03-01 10:00:00.123456+00', null, '', '2024-03-01 09:59:00+00', '', null, '', '', null,
           '2025-01-01 00:00:00+00', '{{\"provider\": \"email\", \"providers\": [\"email\"]}}',
           '{{\"sub\": \"{USER_ID}\", \"email\": \"ana@example.com\", \"full_name\": \"Ana\", \"email_verified\": true, \
              \"phone_verified\": false}}', null, '2024-03-01 09:59:00+00', '2025-01-01 00:00:00+00', null, null, '', '', null,
           '', 0, null, '', null, false, null, false);
         insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at, id)
         values ('{USER_ID}', '{USER_ID}', '{{\"sub\": \"{USER_ID}\", \"email\": \"ana@example.com\", \"email_verified\": true, \
             \"phone_verified\": false}}', 'email', '2024-03-01 09:59:00+00', '2024-03-01 09:59:00+00',
           '2024-03-01 09:59:00+00', '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d');
         insert into auth.sessions (id, user_id, created_at, updated_at, factor_id, aal, not_after, refreshed_at, user_agent, ip,
           tag, oauth_client_id, refresh_token_hmac_key, refresh_token_counter, scopes)
         values ('{SESSION_ID}', '{USER_ID}', '2025-01-01 00:00:00+00', '2025-01-01 00:00:00+00', null, 'aal1', null, null, 'node',
           '203.0.113.7', null, null, null, null, null);
         insert into auth.refresh_tokens (instance_id, id, token, user_id, revoked, created_at, updated_at, parent, session_id)
         values ('00000000-0000-0000-0000-000000000000', 41, 'tw7pxe2ci3af', '{USER_ID}', true, '2025-01-01 00:00:00+00',
             '2025-01-01 01:00:00+00', null, '{SESSION_ID}'),
           ('00000000-0000-0000-0000-000000000000', 42, '4nYUCw0wZR_DNOTSDbSGMQ', '{USER_ID}', false, '2025-01-01 01:00:00+00',
             '2025-01-01 01:00:00+00', 'tw7pxe2ci3af', '{SESSION_ID}');
         select pg_catalog.setval('auth.refresh_tokens_id_seq', 42, true);
         insert into auth.mfa_amr_claims (session_id, created_at, updated_at, authentication_method, id)
         values ('{SESSION_ID}', '2025-01-01 00:00:00+00', '2025-01-01 00:00:00+00', 'password',
           '11111111-2222-4333-8444-555555555555');"
    )
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_090_users_and_sessions_of_a_supabase_dump_keep_working() {
    let app = TestApp::start().await;
    let hash = bcrypt::hash("secret-horse", 4).unwrap();
    app.superuser()
        .await
        .batch_execute(&build_dump(&hash))
        .await
        .unwrap();

    let fresh = app.sign_in("Ana@example.com", "secret-horse").await.session();
    let first = app.refresh("4nYUCw0wZR_DNOTSDbSGMQ").await.session();
    let second = app.refresh(&first.refresh_token).await.session();

    assert_eq!(fresh.user["id"], USER_ID);
    assert_eq!(fresh.user["user_metadata"]["full_name"], "Ana");
    assert_eq!(fresh.user["created_at"], "2024-03-01T09:59:00.000000Z");
    let claims = app.keys.verify(&second.access_token).unwrap();
    assert_eq!(claims.session_id(), Some(SESSION_ID));
    assert_eq!(claims.get("amr").unwrap()[0]["method"], "password");
    assert_eq!(
        app.refresh("tw7pxe2ci3af").await.error(),
        (400, "refresh_token_already_used"),
        "the oldest of three belongs to a thief"
    );
    let changed = app
        .put("/user", json!({"data": {"x": 1}}))
        .bearer(&fresh.access_token)
        .send()
        .await;
    assert_eq!(changed.status, 200, "{}", changed.body);
}
