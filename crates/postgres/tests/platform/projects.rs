//! Statements on the platform's objects that occur in migrations of real projects, run as role `postgres`.

use std::time::Duration;

use selvedge_postgres::migrate::{begin_clear_project, clear_project};
use selvedge_testing::TestDatabase;

use super::{api, query_sqlstate, query_value};

#[tokio::test]
async fn gw_024_profiles_follow_sign_ups_by_a_trigger_on_auth_users() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    let migration = "
        create table if not exists public.profiles (
          id uuid primary key references auth.users (id) on delete cascade,
          email text, full_name text
        );
        create or replace function public.handle_new_user() returns trigger
          language plpgsql security definer set search_path = public as $$
        begin
          insert into public.profiles (id, email, full_name)
          values (new.id, new.email, new.raw_user_meta_data ->> 'full_name');
          return new;
        end $$;
        drop trigger if exists on_auth_user_created on auth.users;
        create trigger on_auth_user_created after insert on auth.users
          for each row execute procedure public.handle_new_user();
        create or replace view public.emails with (security_invoker = off) as select id, email from auth.users;
        grant select (id, email) on auth.users to service_role;";

    // Twice: later migrations often repeat earlier ones.
    for _ in 0..2 {
        postgres.batch_execute(migration).await.expect("applies");
    }
    let auth = database.connect("supabase_auth_admin").await;
    auth.batch_execute(
        "insert into auth.users (id, email, raw_user_meta_data)
         values ('00000000-0000-4000-8000-00000000000a', 'ana@example.com', '{\"full_name\":\"Ana\"}')",
    )
    .await
    .expect("signs up");

    assert_eq!(
        query_value(&postgres, "select full_name from profiles").await,
        "Ana"
    );
    auth.batch_execute("delete from auth.users")
        .await
        .expect("deletes");
    assert_eq!(query_value(&postgres, "select count(*) from profiles").await, "0");
}

#[tokio::test]
async fn gw_024_seeds_insert_users_and_identities_by_hand() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    postgres
        .batch_execute(
            "insert into auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at,
               raw_app_meta_data, raw_user_meta_data, created_at, updated_at, confirmation_token, email_change,
               email_change_token_new, recovery_token)
             select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated', 'authenticated',
               'user' || n || '@example.com', crypt('password', gen_salt('bf', 4)), now(),
               '{\"provider\":\"email\"}', '{}', now(), now(), '', '', '', ''
             from generate_series(1, 3) as n;
             insert into auth.identities (id, user_id, provider_id, identity_data, provider, last_sign_in_at,
               created_at, updated_at)
             select uuid_generate_v4(), id, id, format('{\"sub\":\"%s\",\"email\":\"%s\"}', id, email)::jsonb, 'email',
               now(), now(), now() from auth.users;",
        )
        .await
        .expect("seeds");

    assert_eq!(
        query_value(
            &postgres,
            "select count(*) from auth.identities where email like 'user%'"
        )
        .await,
        "3"
    );
    assert_eq!(
        query_value(
            &postgres,
            "select count(*) from auth.users where confirmed_at is not null"
        )
        .await,
        "3"
    );
    assert_eq!(
        query_sqlstate(
            &postgres,
            "insert into auth.users (id, email) values (gen_random_uuid(), 'user1@example.com')"
        )
        .await,
        "23505"
    );
}

#[tokio::test]
async fn gw_024_policies_and_triggers_on_storage_and_realtime() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    postgres
        .batch_execute(
            "insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
               values ('avatars', 'avatars', true, 1000, array['image/png']) on conflict (id) do nothing;
             update storage.buckets set public = true where id = 'avatars';
             create policy \"read\" on storage.objects for select using (bucket_id = 'avatars');
             create policy \"own folder\" on storage.objects for insert to authenticated with check (
               bucket_id = 'avatars' and (storage.foldername(name))[1] = (select auth.uid())::text);
             drop policy if exists \"own folder\" on storage.objects;
             create policy \"list\" on storage.buckets for select using (true);
             alter table storage.objects enable row level security;
             create function public.on_upload() returns trigger language plpgsql as $$ begin return new; end $$;
             create trigger uploaded after insert on storage.objects for each row execute function public.on_upload();
             create table public.files (object_id uuid references storage.objects (id) on delete cascade);
             create policy \"rooms\" on realtime.messages for select to authenticated
               using (realtime.topic() like 'room:%' and realtime.messages.extension in ('broadcast', 'presence'));
             create policy \"say\" on \"realtime\".\"messages\" for insert to authenticated with check (true);
             create policy \"self\" on auth.users for select to authenticated using (id = auth.uid());",
        )
        .await
        .expect("applies");
}

#[tokio::test]
async fn gw_017_the_publication_takes_tables_and_may_be_made_anew() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    let members =
        "select string_agg(tablename, ',') from pg_publication_tables where pubname = 'supabase_realtime'";

    postgres
        .batch_execute(
            "create table a (id int primary key); create table b (id int primary key);
             alter publication supabase_realtime add table a, b;
             alter publication supabase_realtime drop table b;
             alter table a replica identity full;",
        )
        .await
        .expect("applies");
    assert_eq!(query_value(&postgres, members).await, "a");
    // The opening of the tutorials' migrations.
    postgres
        .batch_execute(
            "begin; drop publication if exists supabase_realtime; create publication supabase_realtime; commit;
             alter publication supabase_realtime add table b;",
        )
        .await
        .expect("applies");
    assert_eq!(query_value(&postgres, members).await, "b");
}

#[tokio::test]
async fn gw_024_schemas_roles_and_default_privileges_of_the_projects_own() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    postgres
        .batch_execute(
            "create schema private; grant usage on schema private to anon, authenticated, service_role;
             alter default privileges for role postgres in schema private grant all on tables to anon;
             alter default privileges in schema public revoke all on functions from anon;
             create role gw_024_role nologin noinherit; grant gw_024_role to authenticator; grant anon to gw_024_role;
             create table private.t (id int default 1); revoke all on schema public from public;
             create function private.secret() returns text language sql security definer set search_path = ''
               as $$ select 'x' $$;
             revoke execute on function private.secret() from public, anon, authenticated;
             grant execute on function private.secret() to supabase_auth_admin;
             grant usage on schema public to supabase_auth_admin;
             comment on schema public is 'standard public schema';
             notify pgrst, 'reload schema';",
        )
        .await
        .expect("applies");
    let anon = api(&database, "anon", "{}").await;

    anon.batch_execute("insert into private.t default values")
        .await
        .expect("granted by default");
    assert_eq!(query_sqlstate(&anon, "select private.secret()").await, "42501");
    let authenticator = database.connect("authenticator").await;
    authenticator
        .batch_execute("set role gw_024_role")
        .await
        .expect("a member");
    drop(authenticator);
    postgres
        .batch_execute("drop role gw_024_role")
        .await
        .expect("its creator may");
}

#[tokio::test]
async fn gw_018_default_extensions_are_reachable_with_and_without_their_schema() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    for call in [
        "extensions.uuid_generate_v4() is not null",
        "uuid_generate_v4() is not null",
        "encode(extensions.digest('a', 'sha256'), 'hex') like 'ca978112ca1b%'",
        "crypt('x', gen_salt('bf', 4)) like '$2a$04$%'",
        "(select count(*) from extensions.pg_stat_statements) >= 0",
    ] {
        assert_eq!(query_value(&postgres, call).await, "true", "{call}");
    }
    let anon = api(&database, "anon", "{}").await;
    anon.batch_execute("set search_path = public, extensions")
        .await
        .expect("set");
    assert_eq!(query_value(&anon, "uuid_generate_v4() is not null").await, "true");
}

#[tokio::test]
async fn gw_018_tokens_can_be_signed_and_verified_in_sql() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    // The example token of jwt.io.
    let token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWV9";
    let payload = r#"{"sub":"1234567890","name":"John Doe","admin":true}"#;
    let signed = format!("extensions.sign('{payload}', 'secret')");

    assert_eq!(
        query_value(&postgres, &signed).await,
        format!("{token}.TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ")
    );
    for (call, expected) in [
        (
            format!("select valid from extensions.verify({signed}, 'secret')"),
            "true",
        ),
        (
            format!("select valid from extensions.verify({signed}, 'other')"),
            "false",
        ),
        (
            "select valid from extensions.verify(extensions.sign('{\"exp\":1}', 's'), 's')".to_owned(),
            "false",
        ),
        (
            format!("select payload ->> 'name' from extensions.verify({signed}, 'secret')"),
            "John Doe",
        ),
    ] {
        assert_eq!(query_value(&postgres, &call).await, expected, "{call}");
    }
}

#[tokio::test]
async fn gw_024_postgres_empties_the_users_with_everything_that_refers_to_them() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    postgres
        .batch_execute("truncate auth.users cascade")
        .await
        .expect("postgres may");

    clear_project(&postgres, &[]).await.expect("as a reset does");
}

/// PostgreSQL ends the wait of the reset, which looks for a circle before the request does.
#[tokio::test]
async fn gw_024_a_reset_and_a_request_that_wait_for_each_other_both_end() {
    let database = TestDatabase::create().await;
    let request = database.superuser().await;
    for statement in [
        "do $$ begin execute format('alter database %I set deadlock_timeout = 4000', current_database()); end $$",
        "create policy own on storage.objects using (true)",
        "set deadlock_timeout = '1min'",
        "begin; update storage.buckets set public = true",
    ] {
        request.batch_execute(statement).await.expect(statement);
    }
    let reset = database.connect("postgres").await;
    let observer = database.superuser().await;

    let requested = async {
        let waiting =
            "exists (select from pg_locks where not granted and relation = 'storage.buckets'::regclass)";
        while query_value(&observer, waiting).await != "true" {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        request.batch_execute("select from storage.objects; commit").await
    };
    let (cleared, requested) = tokio::join!(begin_clear_project(&reset, &[]), requested);

    cleared.expect("it begins anew");
    requested.expect("it had to wait");
    reset.batch_execute("commit").await.expect("cleared");
}
