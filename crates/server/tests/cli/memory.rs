//! Memory runs short: requests are refused, and the process is not killed.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use crate::budgets::{blocking, connect, wait_for};
use crate::production::{generate_keys, serve_variables};
use crate::support::{Ports, Project};

const MIB: u64 = 1024 * 1024;
/// What the server may use.
const LIMIT_BYTES: u64 = 256 * MIB;
/// Responses at once, and the bytes of each: more than twice what the server may use.
const CLIENTS: u8 = 30;
const RESPONSE_BYTES: usize = 20_000_000;

const MIGRATION: &str =
    "create function large() returns text language sql stable set statement_timeout = '600s'
       as $$ select repeat('x', 20000000 - 2) $$;
     create function small() returns text language sql stable as $$ select 'x' $$;";

/// A control group of the system with a memory limit. Removed when dropped, after its processes have ended.
struct MemoryGroup(PathBuf);

impl MemoryGroup {
    /// `None` where this user may not make one.
    fn create(limit_bytes: u64) -> Option<Self> {
        let name = format!("selvedge-test-{}", std::process::id());
        [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ]
        .into_iter()
        .find_map(|(top, limit)| {
            let group = Self(Path::new(top).join(&name));
            fs::create_dir(&group.0).ok()?;
            // Without the file the hierarchy has no memory controller; then the group is removed again.
            let limit = group.0.join(limit);
            (limit.exists() && fs::write(limit, limit_bytes.to_string()).is_ok()).then_some(group)
        })
    }

    /// Returns a command that moves its process into the group and then runs `command` in it.
    fn wrap_command(&self, command: &Command) -> Command {
        let mut entering = Command::new("sh");
        entering
            .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
            .arg(self.0.join("cgroup.procs"))
            .arg(command.get_program())
            .args(command.get_args())
            .env_remove("DATABASE_URL");
        entering
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // The system may take a moment to forget the last process.
        for _ in 0..500 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Memory of a process that is backed by no file; `None` when it has ended.
fn memory_of(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The head of a response, and the number of bytes after it.
fn fetch(port: u16, from: &str, path: &str, key: &str) -> (String, usize) {
    let mut stream = connect(port, from);
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\napikey: {key}\r\n\
         Authorization: Bearer {key}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("sent");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("a response");
    let end = response
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .expect("a whole head");
    let head = String::from_utf8(response[..end].to_vec()).expect("text");
    (head.to_ascii_lowercase(), response.len() - end - 4)
}

/// Notes the most memory that a process uses until it is told to stop.
fn watch_peak(pid: u32, is_over: &Arc<AtomicBool>) -> Arc<AtomicU64> {
    let (peak, is_over) = (Arc::new(AtomicU64::new(0)), Arc::clone(is_over));
    let noted = Arc::clone(&peak);
    std::thread::spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            noted.fetch_max(memory_of(pid).unwrap_or(0), Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    peak
}

/// Requests the large response from many addresses at once. Returns how many were whole and how many refused; there must be no
/// others.
fn fetch_at_once(port: u16, key: &str) -> (usize, usize) {
    let start = Arc::new(Barrier::new(usize::from(CLIENTS)));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let (start, key) = (Arc::clone(&start), key.to_owned());
            std::thread::spawn(move || {
                start.wait();
                fetch(port, &format!("127.0.1.{number}"), "/rest/v1/rpc/large", &key)
            })
        })
        .collect();
    let (mut whole, mut refused) = (0, 0);
    for client in clients {
        let (head, length) = client.join().expect("an answer");
        if head.starts_with("http/1.1 200") {
            assert_eq!(length, RESPONSE_BYTES, "{head}");
            whole += 1;
        } else {
            assert!(
                head.starts_with("http/1.1 503") && head.contains("retry-after: 1"),
                "{head}"
            );
            refused += 1;
        }
    }
    (whole, refused)
}

/// Runs in a control group of 256 MiB where one can be made. Elsewhere the limit is a setting.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_049_answers_beyond_the_memory_limit_are_refused_and_the_server_lives() {
    let project = Project::new();
    project.write("migrations/20260101000000_large.sql", MIGRATION);
    let _embedded = project.start().await;
    let group = MemoryGroup::create(LIMIT_BYTES);
    let keys = generate_keys(&project);
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        project.ports.database
    );
    let mut node = Project::new();
    node.ports = Ports::free();
    let port = node.ports.api;
    let mut variables = serve_variables(&keys, &url);
    let limit = LIMIT_BYTES.to_string();
    // No request fails for another reason than memory, however busy the machine is.
    variables.extend([
        ("SELVEDGE_WORKERS", "2"),
        ("SELVEDGE_LIMITS_REQUEST_TIMEOUT", "600s"),
        ("PGRST_DB_POOL_ACQUISITION_TIMEOUT", "600"),
    ]);
    let arguments = ["serve", "--host", "127.0.0.1", "--port", &port.to_string()].map(str::to_owned);
    let command = node.command(&arguments.each_ref().map(String::as_str));
    let mut serving = match &group {
        Some(group) => node.spawn_command(group.wrap_command(&command), &variables),
        None => {
            variables.push(("SELVEDGE_LIMITS_MEMORY", &limit));
            node.spawn_command(command, &variables)
        }
    };
    serving.wait_until_ready().await;
    let key = keys["SUPABASE_AUTH_SERVICE_ROLE_KEY"].clone();
    let pid = serving.pid();

    blocking(move || {
        let before = memory_of(pid).expect("it runs");
        let is_over = Arc::new(AtomicBool::new(false));
        let peak = watch_peak(pid, &is_over);
        for _ in 0..2 {
            let (whole, refused) = fetch_at_once(port, &key);
            assert!(whole > 0 && refused > 0, "{whole} whole, {refused} refused");
        }
        is_over.store(true, Ordering::Relaxed);
        let peak = peak.load(Ordering::Relaxed);
        assert!(peak < LIMIT_BYTES, "{} MiB", peak / MIB);

        let get = |path| fetch(port, "127.0.0.1", path, &key);
        wait_for("small requests are answered again", || {
            get("/rest/v1/rpc/small").0.starts_with("http/1.1 200")
        });
        wait_for("the memory goes back to the system", || {
            get("/rest/v1/rpc/small");
            memory_of(pid).expect("it runs") < before + 64 * MIB
        });
        wait_for("large requests are answered again", || {
            get("/rest/v1/rpc/large").1 == RESPONSE_BYTES
        });
    })
    .await;
    assert!(!serving.output().contains("panicked"), "{}", serving.output());
    serving.signal("-TERM");
    assert!(serving.wait_for_exit().success());
}
