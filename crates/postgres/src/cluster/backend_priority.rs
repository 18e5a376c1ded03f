//! Low priority for single sessions of the cluster, whose processes run on this machine.

use std::io;
use std::process::Stdio;

use tokio::process::Command;

/// Lets the process of a session run only while no other program needs the processor (`SCHED_IDLE` of Linux), for long reading
/// work beside requests. The priority stays until the session ends, because raising it takes a privilege. `backend` is
/// `pg_backend_pid()` of a session of the embedded cluster.
///
/// The lowest niceness is not enough: Linux may let a thread that has to answer a request wait behind another request on a busy
/// processor, although the long work has the other one. It counts a processor as free only if what runs there has this policy.
///
/// # Errors
/// When the system has no program `chrt` (it is part of util-linux), or does not permit the change.
pub async fn lower_backend_priority(backend: i32) -> io::Result<()> {
    // A program, because neither the standard library nor nix can set the policy of another process.
    let output = Command::new("chrt")
        .args(["--idle", "--pid", "0", &backend.to_string()])
        .stdin(Stdio::null())
        .output()
        .await?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(
        String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    ))
}
