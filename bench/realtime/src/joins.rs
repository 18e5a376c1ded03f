//! Many connections and joins at once, and the memory of the idle sockets after them.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::client::Target;
use crate::measure::{micros_each, ratio};
use crate::process::ServerProcess;

/// Topics over which the sockets are spread.
const TOPICS: usize = 100;
/// Pause before memory is read, so that memory needed only during the joins is returned to the system.
const SETTLE: Duration = Duration::from_secs(2);

/// Connects and joins with many sockets at once.
pub(crate) async fn measure_joins(target: &Target, server: &ServerProcess, sockets: usize) -> Result<Value> {
    let (cpu_before, memory_before) = (server.cpu_time()?, server.memory_bytes()?);
    let begun = Instant::now();
    let topics = (0..sockets).map(|index| format!("realtime:bench-{}", index % TOPICS));
    let open = target.join_all(topics).await?;
    let elapsed = begun.elapsed();
    let cpu = server.cpu_time()? - cpu_before;
    sleep(SETTLE).await;
    let memory = server.memory_bytes()?.saturating_sub(memory_before);
    let count = open.len() as u64;
    Ok(json!({
        "seconds": elapsed.as_secs_f64(),
        "cpu_us": micros_each(cpu, count),
        "kb_each": ratio(memory, count) / 1000.0,
    }))
}
