//! An import of objects into a project that people use meanwhile, from one that goes on.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use actix_web::rt::time::sleep;

use crate::consent::serve_hostile_api;
use crate::support::Project;

const CONFIG: &str = "project_id = \"cli\"\n[storage.buckets.files]\n";

/// Objects of the source. Those that are far from each other are on two of the pages that an import writes one after the other. One cannot be
/// copied, as its row says no size.
const OBJECTS: &str = "
    set session_replication_role = replica;
    insert into storage.objects (bucket_id, name, version, metadata)
    select 'files', name, gen_random_uuid()::text, '{\"size\": 4, \"mimetype\": \"text/plain\"}'
    from unnest(array['moved', 'deleted', 'changed', 'swap 1', 'swap 2', 'replaced', 'gone', 'held', 'without size']) as name;
    update storage.objects set metadata = '{}' where name = 'without size';
    insert into storage.objects (id, bucket_id, name, version, metadata)
    select id::uuid, 'files', name, gen_random_uuid()::text, '{\"size\": 4}'::jsonb from (values
      ('00000000-0000-4000-8000-000000000000', 'far 1'), ('ffffffff-ffff-4fff-8fff-ffffffffffff', 'far 2')) as far (id, name)
    union all
    select gen_random_uuid(), 'files', 'between ' || n, gen_random_uuid()::text, '{\"size\": 4}'::jsonb from generate_series(1, 500) as n;
    insert into storage.buckets (id, name) values ('albums', 'albums');
    insert into storage.objects (id, bucket_id, name, version, metadata)
    values ('fffffffe-ffff-4fff-8fff-ffffffffffff', 'albums', 'of an album', gen_random_uuid()::text, '{\"size\": 4}');
    update storage.objects set id = '00000000-0000-4000-8000-000000000001' where name = 'held'";

/// What people do at the target while the answer for an object is held back.
const UPLOADS: &str = "
    insert into storage.objects (bucket_id, name, version, metadata)
    select 'files', name, gen_random_uuid()::text, '{\"size\": 7}' from unnest(array['held', 'mine']) as name;
    set session_replication_role = replica;
    delete from storage.buckets where id = 'albums'";

/// What they do at the target between both imports.
const CHANGES: &str = "
    set session_replication_role = replica;
    update storage.objects set name = 'elsewhere' where name = 'moved';
    delete from storage.objects where name in ('deleted', 'far 2');
    update storage.objects set version = gen_random_uuid()::text, metadata = '{\"size\": 7}' where name = 'changed'";

/// What happens at the source between both.
const CHANGES_OF_SOURCE: &str = "
    set session_replication_role = replica;
    update storage.objects set version = gen_random_uuid()::text, metadata = '{\"size\": 4, \"new\": true}', updated_at = now()
      where name = 'replaced';
    delete from storage.objects where name in ('gone', 'without size');
    update storage.objects set name = 'swap' where name = 'swap 1';
    update storage.objects set name = 'swap 1' where name = 'swap 2';
    update storage.objects set name = 'swap 2' where name = 'swap';
    update storage.objects set name = 'far' where name = 'far 1';
    update storage.objects set name = 'far 1' where name = 'far 2';
    update storage.objects set name = 'far 2' where name = 'far'";

/// Names with the size in the row, which is 4 of what comes from the source.
const STORED: &str = "select string_agg(concat(name, ' ', metadata ->> 'size', metadata ->> 'new'), ', ' order by name collate \"C\")
    from storage.objects where name not like 'between %'";

fn text_of(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{err}")
}

async fn run_in(project: &Project, statements: &str) {
    let superuser = project.superuser().await;
    superuser.batch_execute(statements).await.expect("run");
}

async fn list_stored(project: &Project) -> String {
    let superuser = project.superuser().await;
    superuser.query_one(STORED, &[]).await.expect("a row").get(0)
}

/// An API of the source that answers for `held` when the sender says so. Returns its port and the requests.
fn serve_api(release: mpsc::Receiver<()>) -> (u16, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::default();
    let port = serve_hostile_api(Arc::clone(&seen), move |path, stream| {
        if path.ends_with("/held") {
            // Nobody sends any more in the second import.
            let _ = release.recv_timeout(Duration::from_secs(30));
        }
        let body = if path.ends_with("/bucket") { "[]  " } else { "good" };
        let _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\n{body}"
        );
    });
    (port, seen)
}

fn import(source: &Project, target: &Project, api: u16) -> Command {
    let mut command = target.command(&["import"]);
    command
        .env("SUPABASE_DB_URL", source.superuser_url())
        .env("SUPABASE_URL", format!("http://127.0.0.1:{api}"))
        .env("SUPABASE_SERVICE_ROLE_KEY", "the-secret-key")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_import_leaves_what_people_store_move_and_delete_meanwhile() {
    let (source, target) = (Project::of_source(), Project::new());
    source.write("config.toml", CONFIG);
    let (_source, _target) = (source.start().await, target.start().await);
    run_in(&source, OBJECTS).await;
    let (release, held) = mpsc::channel();
    let (api, seen) = serve_api(held);

    let first = import(&source, &target, api).spawn().expect("the binary runs");
    let is_asked = || {
        seen.lock()
            .expect("not poisoned")
            .iter()
            .any(|head| head.contains("/held "))
    };
    for _ in 0..3000 {
        if is_asked() {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert!(is_asked());
    run_in(&target, UPLOADS).await;
    release.send(()).expect("it waits");
    let first = first.wait_with_output().expect("it ends");

    let printed = text_of(&first);
    assert!(
        printed.contains("1 objects were not copied")
            && printed.contains("2 objects are not as at the source"),
        "{printed}"
    );
    assert_eq!(
        list_stored(&target).await,
        "changed 4, deleted 4, far 1 4, far 2 4, gone 4, held 7, mine 7, moved 4, replaced 4, swap 1 4, swap 2 4"
    );

    run_in(&target, CHANGES).await;
    run_in(&source, CHANGES_OF_SOURCE).await;
    let second = import(&source, &target, api).output().expect("the binary runs");

    let printed = text_of(&second);
    assert!(second.status.success(), "{printed}");
    assert!(
        printed.contains("6 objects are not as at the source"),
        "{printed}"
    );
    assert_eq!(
        list_stored(&target).await,
        "changed 7, elsewhere 4, far 2 4, held 7, mine 7, replaced 4true, swap 1 4, swap 2 4"
    );
    let swapped = "select (select version from storage.objects where name = 'swap 1')";
    let [at_source, at_target] = [&source, &target].map(|project| async {
        let superuser = project.superuser().await;
        let row = superuser.query_one(swapped, &[]).await.expect("a row");
        row.get::<_, String>(0)
    });
    assert_eq!(at_source.await, at_target.await);
    let notes = "select to_regclass('_selvedge.copied_objects') is null";
    let row = target.superuser().await.query_one(notes, &[]).await;
    assert!(row.expect("a row").get::<_, bool>(0));
}
