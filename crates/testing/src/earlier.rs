//! The platform schema of versions before 28 November 2026, for tests of upgrades.

use std::path::Path;

use selvedge_postgres::SHIPPED;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

/// The first file that takes away what `postgres` had too much before.
const FIRST_MENDING_FILE: &str = "0080";

/// The tables that exist before the first file, as the earlier version made them.
const REGISTER: &str = "
    set search_path = pg_catalog, pg_temp;
    create schema _selvedge;
    create table _selvedge.platform_migrations (
      version integer primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now()
    );
    grant usage on schema _selvedge to public;
    grant select on _selvedge.platform_migrations to public;
    create table _selvedge.shipped_extensions (
      name text not null primary key, version text not null, schema text, script text not null
    );";

/// Applies the files of the platform schema that the version had which was attacked, to an empty database. They are the same today.
///
/// # Panics
/// When a file fails.
pub async fn apply_earlier_platform(superuser: &Client) {
    superuser.batch_execute(REGISTER).await.expect("registered");
    for shipped in SHIPPED {
        superuser
            .execute(
                "insert into _selvedge.shipped_extensions values ($1, $2, null, $3)",
                &[&shipped.name, &shipped.version, &shipped.script],
            )
            .await
            .expect("stored");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql/platform");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("files")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    for path in files {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        if name < FIRST_MENDING_FILE {
            let sql = std::fs::read_to_string(&path).expect("a text");
            let version: i32 = name[..4].parse().expect("a number");
            let apply = format!("begin; {sql}; reset role");
            loop {
                let applied = superuser.batch_execute(&apply).await;
                // "tuple concurrently updated": roles are the whole cluster's, and another test has changed the same one meanwhile.
                match applied {
                    Err(error) if error.code() == Some(&SqlState::INTERNAL_ERROR) => {
                        superuser.batch_execute("rollback").await.expect(name);
                    }
                    applied => break applied.expect(name),
                }
            }
            let register = "insert into _selvedge.platform_migrations (version, name, sha256)
                values ($1, $2, encode(sha256(convert_to($3::text, 'UTF8')), 'hex'))";
            superuser
                .execute(register, &[&version, &name, &sql])
                .await
                .expect(name);
            superuser.batch_execute("commit").await.expect(name);
        }
    }
}
