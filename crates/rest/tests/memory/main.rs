//! What this process allocates for requests: for each form of a body, and for responses that are compressed, with 1, 4, 16 and 40 at a time.
//! More than is counted would be more than the server's limit allows.
//!
//! A program of its own, because it counts what is allocated. PostgreSQL is another process, and the clients allocate nothing.
#![expect(unsafe_code, reason = "an allocator is unsafe; this one only counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use actix_web::{App, web};
use selvedge_gateway::{Gateway, GatewayConfig, Keys, ServerBuilder};
use selvedge_memory::MemoryBudget;
use selvedge_postgres::{Database, Logins, RequestPool, RequestPoolConfig};
use selvedge_rest::{RestConfig, RestWorker, SchemaCache};
use selvedge_testing::TestDatabase;
use selvedge_token::{ApiKeys, KeyRing};

const MIB: usize = 1024 * 1024;
/// What is counted, at most: the budget of the server.
const BUDGET: usize = 8 * MIB;
/// What is allocated besides, at most.
const BESIDES: usize = 8 * MIB;
const AT_ONCE: [usize; 4] = [1, 4, 16, 40];
const BODY_BYTES: usize = 300_000;

/// Nothing is written or called: only what becomes of a request on this side is of interest.
const SCHEMA: &str = "create table public.refuses (body text, n int, document jsonb);
    create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse before insert on public.refuses for each statement execute function public.refuse();
    create function public.refuses(body text) returns int language plpgsql as $$ begin raise exception 'refused'; end $$;
    create table public.lines as select 'a title of usual length ' || number as title from generate_series(1, 1000) number;
    grant insert on public.refuses to anon; grant select on public.lines to anon;";

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with the bytes that are allocated.
struct Counting;

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

async fn start_server(database: &TestDatabase, memory: MemoryBudget) -> SocketAddr {
    let login = |role: &str| database.config(role);
    let logins = Logins::new(
        login("authenticator"),
        login("supabase_auth_admin"),
        login("supabase_storage_admin"),
    );
    let connected = Database::connect(logins).await.expect("the database is there");
    let cache = SchemaCache::start(Arc::clone(&connected), RestConfig::default()).await;
    let ring = KeyRing::new(b"super-secret-jwt-token-with-at-least-32-characters-long", &[]);
    let keys = Keys::new(
        Arc::new(ring.expect("a good secret")),
        Arc::new(ApiKeys::new(Vec::new(), Vec::new())),
        false,
    );
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let application = move || {
        let pool = RequestPoolConfig {
            memory: memory.clone(),
            ..RequestPoolConfig::default()
        };
        let gateway = GatewayConfig {
            memory: memory.clone(),
            ..GatewayConfig::default()
        };
        let rest = RestWorker::new(
            Arc::clone(&cache),
            RequestPool::new(Arc::clone(&connected), pool),
            None,
        );
        App::new()
            .wrap(Gateway::new(keys.clone(), gateway))
            .service(web::scope("/rest/v1").configure(rest.configure()))
    };
    let builder = ServerBuilder::new().workers(2).disable_signals();
    let running = selvedge_gateway::listen(builder, listener, Duration::from_secs(5), application)
        .expect("the listener is good")
        .run();
    tokio::spawn(running);
    address
}

/// Sends a request and reads its response; nothing is allocated.
fn exchange(address: SocketAddr, head: &[u8], body: &[u8]) {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    // A server that refuses early does not read to the end.
    let _ = stream.write_all(head).and_then(|()| stream.write_all(body));
    let mut read = [0; 16 * 1024];
    while stream.read(&mut read).is_ok_and(|bytes| bytes > 0) {}
}

/// The bytes that are allocated at most while so many clients send the request at once.
fn measure(address: SocketAddr, clients: usize, head: &str, body: &[u8]) -> usize {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| exchange(address, head.as_bytes(), body));
        }
    });
    PEAK.load(Relaxed).saturating_sub(before)
}

struct Form {
    name: &'static str,
    path: String,
    headers: &'static str,
    body: Vec<u8>,
}

fn post(name: &'static str, path: &str, headers: &'static str, body: Vec<u8>) -> Form {
    Form {
        name,
        path: path.to_owned(),
        headers,
        body,
    }
}

fn repeated(begin: &str, part: &str, end: &str) -> Vec<u8> {
    let count = (BODY_BYTES - begin.len() - end.len()) / part.len();
    format!("{begin}{}{end}", part.repeat(count)).into_bytes()
}

fn forms() -> Vec<Form> {
    const JSON: &str = "Content-Type: application/json\r\n";
    const CSV: &str = "Content-Type: text/csv\r\n";
    const FORM_TYPE: &str = "Content-Type: application/x-www-form-urlencoded\r\n";
    let columns: Vec<String> = (0..16).map(|number| format!("a{number}:title")).collect();
    let read = |name, headers| Form {
        name,
        path: format!("/rest/v1/lines?select={}", columns.join(",")),
        headers,
        body: Vec::new(),
    };
    vec![
        post(
            "JSON, a long text",
            "/rest/v1/refuses",
            JSON,
            repeated("{\"body\":\"", "x", "\"}"),
        ),
        post(
            "JSON, many rows",
            "/rest/v1/refuses",
            JSON,
            repeated("[{\"n\":1}", ",{\"n\":1}", "]"),
        ),
        post(
            "JSON, many values",
            "/rest/v1/refuses",
            JSON,
            repeated("{\"document\":[1", ",1", "]}"),
        ),
        post(
            "CSV, a long cell",
            "/rest/v1/refuses",
            CSV,
            repeated("body\n", "x", "\n"),
        ),
        post(
            "CSV, many rows",
            "/rest/v1/refuses",
            CSV,
            repeated("n\n", "1\n", ""),
        ),
        post(
            "a form, a long value",
            "/rest/v1/rpc/refuses",
            FORM_TYPE,
            repeated("body=", "%61", ""),
        ),
        read("a response", ""),
        read("a response with Brotli", "Accept-Encoding: br\r\n"),
        read("a response with gzip", "Accept-Encoding: gzip\r\n"),
    ]
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_049_no_more_is_allocated_than_is_counted() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser.batch_execute(SCHEMA).await.expect("a valid schema");
    let memory = MemoryBudget::new(BUDGET);
    let address = start_server(&database, memory.clone()).await;
    let mut faults = Vec::new();
    for form in forms() {
        let method = if form.body.is_empty() { "GET" } else { "POST" };
        let head = format!(
            "{method} {} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{}Content-Length: {}\r\n\r\n",
            form.path,
            form.headers,
            form.body.len()
        );
        let form = Arc::new(form);
        for clients in AT_ONCE {
            let (head, of_clients) = (head.clone(), Arc::clone(&form));
            let measured = web::block(move || measure(address, clients, &head, &of_clients.body));
            let peak = measured.await.expect("measured");
            // What PostgreSQL still works on is given back when it has answered.
            while memory.used() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            println!("{}, {clients} at a time: {:.1} MB", form.name, peak as f64 / 1e6);
            if peak > BUDGET + BESIDES {
                faults.push(format!("{}, {clients} at a time: {peak} bytes", form.name));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
