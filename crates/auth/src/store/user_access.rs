//! Ends what a user, or somebody else, could go on with: sessions, pending codes, flows that have begun, and ways to sign in.
//!
//! There is one list for all events, so that none forgets a table; the test below walks every table of the platform that names
//! users. It begins in `_selvedge.end_sessions`, which the console calls, too. Source: Auth contract §2.8, §2.9, §2.15, AUTH-041,
//! AUTH-060.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, execute_statement, find_row, one_time_tokens, users};

/// Why access ends; each reason ends what the ones above it do, too, except that a new password may keep one session, and a
/// proven address what waits for its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AccessEnd {
    /// The user has signed out everywhere, or everywhere else than in the session `kept`, or has added the first second factor in
    /// it: sessions and what was begun in them, such as links to providers, codes that are waiting for their exchange,
    /// ceremonies, and changes of addresses. Codes and changes do not tell their session, and end with the others' also where
    /// one is kept. Other mails that nobody has opened yet stay valid.
    SignedOut { kept: Option<Uuid> },
    /// The user was banned: mailed links and codes, and PKCE flows that wait for them.
    Banned,
    /// The password has changed. `kept` is the session that has changed it.
    PasswordChanged { kept: Option<Uuid> },
    /// The account goes to whoever has proven its address by a mailed link or code: second factors, passkeys and consents.
    /// What that link leads to stays: its token, and the flow that it finishes.
    AddressProven,
    /// The account is gone, or it goes to somebody else, whose address a provider has verified: all of the above. Identities
    /// are left to the caller: a deletion makes them anonymous, and the new owner keeps one.
    AccountGone,
}

impl AccessEnd {
    fn kept_session(self) -> Option<Uuid> {
        match self {
            Self::SignedOut { kept } | Self::PasswordChanged { kept } => kept,
            Self::Banned | Self::AddressProven | Self::AccountGone => None,
        }
    }

    fn ends_mails(self) -> bool {
        !matches!(self, Self::SignedOut { .. } | Self::AddressProven)
    }

    fn ends_ways_to_sign_in(self) -> bool {
        matches!(self, Self::AddressProven | Self::AccountGone)
    }

    /// Locks the user's row. Only the end of the account waits for transactions that have written rows which refer to it.
    fn lock(self) -> &'static str {
        match self {
            Self::AddressProven | Self::AccountGone => "select from auth.users where id = $1 for update",
            _ => "select from auth.users where id = $1 for no key update",
        }
    }
}

/// Flows that wait for a mailed link.
const MAILED_FLOWS: &str = "delete from auth.flow_state where user_id = $1";
/// What the account itself consists of.
const WAYS_TO_SIGN_IN: [&str; 3] = [
    "delete from auth.mfa_factors where user_id = $1",
    "delete from auth.webauthn_credentials where user_id = $1",
    "delete from auth.oauth_consents where user_id = $1",
];

/// Ends a user's access, in the caller's transaction. The user's row stays locked until it ends: a sign-in at the same time,
/// which locks it too, either comes before, and its session is deleted here, or sees what the caller has changed.
pub(crate) async fn end(
    db: &impl GenericClient,
    user_id: Uuid,
    reason: AccessEnd,
    now: DateTime<Utc>,
) -> DbResult<()> {
    find_row(db, reason.lock(), &[&user_id]).await?;
    const SESSIONS: &str = "select _selvedge.end_sessions($1, $2, $3, $4)";
    let ends_links = !matches!(reason, AccessEnd::SignedOut { kept: Some(_) });
    find_row(
        db,
        SESSIONS,
        &[&user_id, &reason.kept_session(), &ends_links, &now],
    )
    .await?;
    if reason.ends_mails() {
        execute_statement(db, MAILED_FLOWS, &[&user_id]).await?;
        // Compat: only a new password forgets when mails were sent.
        match reason {
            AccessEnd::PasswordChanged { .. } => users::clear_pending_tokens(db, user_id, now).await?,
            _ => one_time_tokens::clear_all_tokens(db, user_id, now).await?,
        }
    }
    if reason.ends_ways_to_sign_in() {
        for sql in WAYS_TO_SIGN_IN {
            execute_statement(db, sql, &[&user_id]).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use deadpool_postgres::{Manager, Pool};
    use selvedge_testing::TestDatabase;

    use super::*;
    use crate::store::contested_accounts;

    /// Tables that name users and are emptied by [`end`], directly or by a foreign key.
    const ENDED: [&str; 10] = [
        "auth.flow_state",
        "auth.mfa_factors",
        "auth.mfa_recovery_code_sets",
        "auth.oauth_authorizations",
        "auth.oauth_consents",
        "auth.one_time_tokens",
        "auth.refresh_tokens",
        "auth.sessions",
        "auth.webauthn_challenges",
        "auth.webauthn_credentials",
    ];
    /// Tables that name users and stay, with the reason.
    const KEPT: [(&str, &str); 5] = [
        (
            "_selvedge.selvedge_contested_accounts",
            "marks an address that nobody has proven, until somebody does",
        ),
        (
            "_selvedge.selvedge_ended_users",
            "says that the account has ended, until the last of its tokens has expired",
        ),
        (
            "_selvedge.selvedge_unproven_sign_ins",
            "says of an account how it was made, as long as nobody has got into it",
        ),
        (
            "_selvedge.selvedge_vouched_passwords",
            "says of the account that goes to somebody that its password may stay",
        ),
        ("auth.identities", "see AccessEnd::AccountGone"),
    ];
    /// What a proven address does not end: the token that has proven it, and the flows that wait for a link.
    const KEPT_BY_PROOF: [&str; 2] = ["auth.one_time_tokens", "auth.flow_state"];

    /// One row in each table, for one user; the session is that of the flow.
    const ROWS: &str = "
        insert into auth.users (id, email, recovery_token) values ('00000000-0000-4000-8000-00000000000a', 'a@b.c', 'x');
        insert into auth.sessions (id, user_id) values
          ('00000000-0000-4000-8000-0000000000b1', '00000000-0000-4000-8000-00000000000a'),
          ('00000000-0000-4000-8000-0000000000b2', '00000000-0000-4000-8000-00000000000a');
        insert into auth.refresh_tokens (token, user_id, session_id) values
          ('t', '00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-0000000000b1');
        insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at) values
          (gen_random_uuid(), '00000000-0000-4000-8000-00000000000a', 'totp', 'verified', now(), now());
        insert into auth.mfa_recovery_code_sets (user_id, mfa_factor_id)
          select user_id, id from auth.mfa_factors;
        insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to) values
          (gen_random_uuid(), '00000000-0000-4000-8000-00000000000a', 'recovery_token', 'x', 'a@b.c'),
          (gen_random_uuid(), '00000000-0000-4000-8000-00000000000a', 'email_change_token_new', 'y', 'd@e.f');
        insert into auth.flow_state (id, user_id, linking_target_id, auth_code_issued_at, provider_type,
          authentication_method) values
          (gen_random_uuid(), '00000000-0000-4000-8000-00000000000a', null, null, 'email', 'magiclink'),
          (gen_random_uuid(), '00000000-0000-4000-8000-00000000000a', null, now(), 'email', 'magiclink'),
          (gen_random_uuid(), '00000000-0000-4000-8000-00000000000a', null, null, 'sso', 'sso/saml'),
          (gen_random_uuid(), null, '00000000-0000-4000-8000-00000000000a', null, 'google', 'oauth');
        insert into auth.webauthn_credentials (user_id, credential_id, public_key) values
          ('00000000-0000-4000-8000-00000000000a', 'x', 'y');
        insert into auth.webauthn_challenges (user_id, challenge_type, session_data, expires_at) values
          ('00000000-0000-4000-8000-00000000000a', 'registration', '{}', now());
        insert into auth.oauth_clients
          (id, registration_type, redirect_uris, grant_types, token_endpoint_auth_method, client_type) values
          ('00000000-0000-4000-8000-0000000000c1', 'manual', 'https://app.example/', 'authorization_code', 'none', 'public');
        insert into auth.oauth_consents (id, user_id, client_id, scopes) values
          (gen_random_uuid(), '00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-0000000000c1', 'email');
        insert into auth.oauth_authorizations (id, authorization_id, client_id, user_id, redirect_uri, scope) values
          (gen_random_uuid(), 'x', '00000000-0000-4000-8000-0000000000c1', '00000000-0000-4000-8000-00000000000a',
           'https://app.example/', 'email');";

    /// Every table of the platform with a foreign key to users, or a column that is named for one.
    const TABLES_WITH_USERS: &str = "
        select distinct relnamespace::regnamespace || '.' || relname as table_name from (
          select conrelid as id from pg_constraint where contype = 'f' and confrelid = 'auth.users'::regclass
          union all
          select attrelid from pg_attribute join pg_class on pg_class.oid = attrelid
          where relkind = 'r' and not attisdropped and attname in ('user_id', 'linking_target_id', 'linking_target')
            and relnamespace::regnamespace::text in ('auth', '_selvedge')
        ) tables join pg_class on pg_class.oid = tables.id order by table_name";

    #[tokio::test]
    async fn auth_060_every_table_that_names_users_is_ended_or_kept_for_a_reason() {
        let database = TestDatabase::create().await;
        let superuser = database.superuser().await;
        superuser.batch_execute(ROWS).await.expect("rows are inserted");
        let manager = Manager::new(database.config("supabase_auth_admin"), tokio_postgres::NoTls);
        let pool = Pool::builder(manager).max_size(1).build().expect("a pool");
        let client = pool.get().await.expect("a connection");

        let tables = superuser.query(TABLES_WITH_USERS, &[]).await.expect("tables");
        let tables: Vec<String> = tables.iter().map(|row| row.get(0)).collect();
        let mut known: Vec<&str> = ENDED.into_iter().chain(KEPT.map(|(table, _)| table)).collect();
        known.sort_unstable();
        assert_eq!(tables, known, "a new table belongs to one of the two lists");

        let user = Uuid::from_u128(0x4000_8000_0000_0000_000a);
        let count = async |table: &str| -> i64 {
            let row = superuser
                .query_one(&format!("select count(*) from {table}"), &[])
                .await;
            row.expect("a count").get(0)
        };
        end(&client, user, AccessEnd::SignedOut { kept: None }, Utc::now())
            .await
            .expect("signed out");
        assert_eq!(
            (count("auth.sessions").await, count("auth.flow_state").await),
            (0, 1),
            "a mail that nobody has opened stays valid"
        );
        assert_eq!(
            (
                count("auth.one_time_tokens").await,
                count("auth.mfa_factors").await
            ),
            (1, 1)
        );
        end(&client, user, AccessEnd::AccountGone, Utc::now())
            .await
            .expect("gone");
        for table in ENDED {
            assert_eq!(count(table).await, 0, "{table}");
        }
    }

    #[tokio::test]
    async fn auth_106_what_a_stranger_has_registered_is_forgotten_by_the_same_list() {
        let database = TestDatabase::create().await;
        let superuser = database.superuser().await;
        superuser.batch_execute(ROWS).await.expect("rows are inserted");
        const REGISTERED: &str = "
            update auth.users set encrypted_password = 'x';
            insert into auth.identities (provider_id, user_id, identity_data, provider, created_at, updated_at) values
              ('s', '00000000-0000-4000-8000-00000000000a', '{}', 'github', now(), now()),
              ('e', '00000000-0000-4000-8000-00000000000a', '{}', 'email', now(), now());";
        superuser
            .batch_execute(REGISTERED)
            .await
            .expect("rows are inserted");
        let manager = Manager::new(database.config("supabase_auth_admin"), tokio_postgres::NoTls);
        let pool = Pool::builder(manager).max_size(1).build().expect("a pool");
        let client = pool.get().await.expect("a connection");
        let user = Uuid::from_u128(0x4000_8000_0000_0000_000a);

        let forgotten = contested_accounts::forget_credentials(&client, user, Utc::now())
            .await
            .expect("forgotten");

        assert!(forgotten.password && forgotten.identities);
        for table in ENDED {
            let sql = format!("select count(*) from {table}");
            let left: i64 = superuser.query_one(&sql, &[]).await.expect("a count").get(0);
            assert_eq!(left > 0, KEPT_BY_PROOF.contains(&table), "{table}");
        }
        let providers = superuser
            .query("select provider from auth.identities", &[])
            .await
            .expect("identities");
        assert_eq!((providers.len(), providers[0].get(0)), (1, "email"));
    }

    #[tokio::test]
    async fn auth_114_rows_that_refer_to_a_user_can_be_written_while_the_user_is_locked() {
        let database = TestDatabase::create().await;
        let superuser = database.superuser().await;
        superuser.batch_execute(ROWS).await.expect("rows are inserted");
        let manager = Manager::new(database.config("supabase_auth_admin"), tokio_postgres::NoTls);
        let pool = Pool::builder(manager).max_size(1).build().expect("a pool");
        let mut client = pool.get().await.expect("a connection");
        let user = Uuid::from_u128(0x4000_8000_0000_0000_000a);
        superuser
            .batch_execute("create table public.notes (user_id uuid references auth.users)")
            .await
            .expect("a table");

        let db = client.transaction().await.expect("a transaction");
        users::lock_by_id(&db, user).await.expect("locked");
        end(&db, user, AccessEnd::SignedOut { kept: None }, Utc::now())
            .await
            .expect("signed out");

        superuser
            .batch_execute("set lock_timeout = '5s'; insert into public.notes select id from auth.users;")
            .await
            .expect("the row is not waited for");
    }

    #[tokio::test]
    async fn auth_054_a_new_password_keeps_the_session_that_has_set_it() {
        let database = TestDatabase::create().await;
        let superuser = database.superuser().await;
        superuser.batch_execute(ROWS).await.expect("rows are inserted");
        let manager = Manager::new(database.config("supabase_auth_admin"), tokio_postgres::NoTls);
        let pool = Pool::builder(manager).max_size(1).build().expect("a pool");
        let client = pool.get().await.expect("a connection");
        let kept = Uuid::from_u128(0x4000_8000_0000_0000_00b2);

        let reason = AccessEnd::PasswordChanged { kept: Some(kept) };
        end(
            &client,
            Uuid::from_u128(0x4000_8000_0000_0000_000a),
            reason,
            Utc::now(),
        )
        .await
        .expect("changed");

        let left = superuser
            .query_one(
                "select (select array_agg(id) from auth.sessions), (select recovery_token from auth.users),
                   (select count(*) from auth.flow_state) + (select count(*) from auth.one_time_tokens)
                   + (select count(*) from auth.oauth_authorizations),
                   (select count(*) from auth.webauthn_credentials)",
                &[],
            )
            .await
            .expect("what is left");
        assert_eq!(left.get::<_, Vec<Uuid>>(0), [kept]);
        assert_eq!(left.get::<_, &str>(1), "");
        assert_eq!((left.get::<_, i64>(2), left.get::<_, i64>(3)), (0, 1));
    }
}
