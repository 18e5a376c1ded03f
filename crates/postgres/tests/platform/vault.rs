//! supabase_vault: secrets are encrypted, and only its own functions read the key.

use selvedge_testing::TestDatabase;

use super::{api, query_sqlstate, query_value};

#[tokio::test]
async fn secrets_are_stored_encrypted_and_shown_in_clear_to_postgres_and_service_role() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    let service = api(&database, "service_role", "{}").await;

    query_value(
        &postgres,
        "vault.create_secret('s3cret-grüße', 'key', 'for tests')",
    )
    .await;
    query_value(&service, "vault.create_secret('', 'empty')").await;
    query_value(
        &postgres,
        "select vault.update_secret(id, new_secret := 'other', new_name := 'renamed') from vault.secrets where name = 'empty'",
    )
    .await;

    for client in [&postgres, &service] {
        assert_eq!(
            query_value(
                client,
                "select string_agg(name || '=' || decrypted_secret || ' ' || description, ', ' order by name)
                 from vault.decrypted_secrets"
            )
            .await,
            "key=s3cret-grüße for tests, renamed=other "
        );
        assert_eq!(
            query_value(
                client,
                "select bool_or(strpos(secret, 's3cret') > 0 or strpos(secret, encode('s3cret', 'base64')) > 0)
                 from vault.secrets"
            )
            .await,
            "false"
        );
    }
    assert_eq!(
        query_sqlstate(&postgres, "select vault.create_secret('x', 'key')").await,
        "23505"
    );
    postgres
        .batch_execute(
            "create view public.keys as select name, decrypted_secret from vault.decrypted_secrets;
             delete from vault.secrets where name = 'renamed'",
        )
        .await
        .expect("as at Supabase");
}

#[tokio::test]
async fn changed_texts_and_texts_of_other_rows_are_refused() {
    let database = TestDatabase::create().await;
    let client = database.superuser().await;
    client
        .batch_execute("select vault.create_secret('one', 'a'), vault.create_secret('two', 'b')")
        .await
        .expect("created");
    let read = "select decrypted_secret from vault.decrypted_secrets where name = 'a'";

    for change in [
        "secret = (select secret from vault.secrets where name = 'b')",
        "nonce = (select nonce from vault.secrets where name = 'b')",
        "secret = encode(set_byte(decode(secret, 'base64'), 20, get_byte(decode(secret, 'base64'), 20) # 1), 'base64')",
        "secret = encode(set_byte(decode(secret, 'base64'), 0, get_byte(decode(secret, 'base64'), 0) # 1), 'base64')",
        "secret = ''",
    ] {
        client
            .batch_execute(&format!(
                "begin; update vault.secrets set {change} where name = 'a'"
            ))
            .await
            .expect(change);
        assert_eq!(query_sqlstate(&client, read).await, "XX001", "{change}");
        client.batch_execute("rollback").await.expect("undone");
    }
    assert_eq!(query_value(&client, read).await, "one");
}

#[tokio::test]
async fn no_role_of_a_project_reaches_the_key_or_replaces_what_reads_it() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    query_value(&postgres, "vault.create_secret('one', 'a')").await;

    for statement in [
        "select vault._root_key()",
        "select vault._derive_keys(0, 'pgsodium')",
        "select vault._open('', '', '', '')",
        "select pg_read_file('../vault.key')",
        "create table t (line text); copy t from '/etc/hostname'",
        "insert into vault._key_file (path) values ('/etc/hostname')",
        "update _selvedge.shipped_extensions set script = 'select 1'",
        "select _selvedge.install_by_script('pgmq', true, 'public')",
        "create function vault.mine() returns int language sql as 'select 1'",
        "create or replace function vault._hmac(bytea, bytea, text) returns bytea language sql as 'select $2'",
        "drop function vault._root_key() cascade",
        "alter function vault._root_key() owner to postgres",
        "alter schema vault rename to mine",
        "insert into vault.secrets (secret) values ('x')",
        "update vault.secrets set secret = 'x'",
    ] {
        assert_eq!(query_sqlstate(&postgres, statement).await, "42501", "{statement}");
        postgres.batch_execute("rollback").await.ok();
    }
    for role in ["anon", "authenticated"] {
        let client = api(&database, role, "{}").await;
        for statement in [
            "select * from vault.decrypted_secrets",
            "select * from vault.secrets",
            "select vault.create_secret('x')",
            "select vault._crypto_aead_det_decrypt('', '', 0)",
        ] {
            assert_eq!(
                query_sqlstate(&client, statement).await,
                "42501",
                "{role}: {statement}"
            );
        }
    }
    // The vault works without the extension pgcrypto, so functions in its place would not be called.
    postgres
        .batch_execute(
            "select _selvedge.drop_extension('pgjwt', true, true), _selvedge.drop_extension('pgcrypto', true, true)",
        )
        .await
        .expect("dropped");
    assert_eq!(
        query_value(&postgres, "select decrypted_secret from vault.decrypted_secrets").await,
        "one"
    );
}

#[tokio::test]
async fn texts_are_sealed_as_rfc_7518_says() {
    let database = TestDatabase::create().await;
    let client = database.superuser().await;
    // Test vector of RFC 7518, appendix B.3.
    let key = (0..64).map(|byte| format!("{byte:02x}")).collect::<String>();
    let iv = "1af38c2dc2b96ffdd86694092341bc04";
    let message = hex(
        "A cipher system must not be required to be secret, and it must be able to fall into the hands \
                       of the enemy without inconvenience",
    );
    let additional = hex("The second principle of Auguste Kerckhoffs");
    let sealed = "4affaaadb78c31c5da4b1b590d10ffbd3dd8d5d302423526912da037ecbcc7bd822c301dd67c373bccb584ad3e9279c2\
                  e6d12a1374b77f077553df829410446b36ebd97066296ae6427ea75c2e0846a11a09ccf5370dc80bfecbad28c73f09b3\
                  a3b75e662a2594410ae496b2e2e6609e31e6e02cc837f053d21f37ff4f51950bbe2638d09dd7a4930930806d0703b1f6\
                  4dd3b4c088a7f45c216839645b2012bf2e6269a8c56a816dbc1b267761955bc5";

    let arguments = format!("'\\x{key}', '\\x{iv}', '\\x{additional}'");
    assert_eq!(
        query_value(
            &client,
            &format!("encode(vault._seal({arguments}, '\\x{message}'), 'hex')")
        )
        .await,
        sealed
    );
    assert_eq!(
        query_value(
            &client,
            &format!("encode(vault._open({arguments}, '\\x{sealed}'), 'hex')")
        )
        .await,
        message
    );
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}
