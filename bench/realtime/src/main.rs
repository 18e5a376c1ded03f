//! Load driver for `/realtime/v1`: measures one scenario and prints its figures as a line of JSON.
//!
//! It runs beside the server on the same machine, with loopback addresses only, and reads the server's CPU time and
//! memory from `/proc/<pid>`. `bench/realtime.py` starts a server and runs every scenario.

mod broadcasts;
mod changes;
mod client;
mod faults;
mod joins;
mod measure;
mod presence;
mod process;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, Subcommand};

use crate::broadcasts::{Channels, Fanout};
use crate::changes::{Identity, Rights};
use crate::presence::Presence;
use crate::process::ServerProcess;

/// Measures a running server.
#[derive(Parser)]
struct Arguments {
    /// Port of the server on 127.0.0.1.
    #[arg(long, default_value_t = 54321)]
    port: u16,
    /// Process id of the server, for CPU time and memory.
    #[arg(long)]
    pid: u32,
    /// API key of the sockets.
    #[arg(long)]
    key: String,
    /// Seconds of load.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    #[command(subcommand)]
    scenario: Scenario,
}

#[derive(Subcommand)]
enum Scenario {
    /// One sender, many members of one topic.
    Fanout {
        #[arg(long, default_value_t = 1000)]
        members: usize,
        /// Bytes of each payload.
        #[arg(long, default_value_t = 100)]
        payload: usize,
        /// Broadcasts a second; 0: as many as are acknowledged.
        #[arg(long, default_value_t = 0)]
        rate: u32,
        /// Broadcasts that wait for their acknowledgement at a time, without a rate.
        #[arg(long, default_value_t = 16)]
        window: usize,
    },
    /// Topics with their own members and senders.
    Channels {
        #[arg(long, default_value_t = 100)]
        topics: usize,
        #[arg(long, default_value_t = 100)]
        members: usize,
        /// Members of each topic that send.
        #[arg(long, default_value_t = 10)]
        senders: usize,
        /// Broadcasts a second of each topic.
        #[arg(long, default_value_t = 10)]
        rate: u32,
    },
    /// Connects and joins all at once.
    Joins {
        #[arg(long, default_value_t = 5000)]
        sockets: usize,
    },
    /// Members of one topic that join and leave.
    Presence {
        #[arg(long, default_value_t = 1000)]
        members: usize,
        /// Joins a second, and as many leaves.
        #[arg(long, default_value_t = 50)]
        rate: u32,
    },
    /// From the commit of a row to one subscriber.
    Latency {
        #[command(flatten)]
        database: OfDatabase,
        #[arg(long, default_value_t = 1)]
        subscribers: usize,
    },
    /// Changes of rows that only their owners may see.
    Rights {
        #[command(flatten)]
        database: OfDatabase,
        #[arg(long, default_value_t = 1000)]
        subscribers: usize,
        /// Changes a second.
        #[arg(long, default_value_t = 1000)]
        rate: u32,
    },
    /// A transaction of many rows.
    Transaction {
        #[command(flatten)]
        database: OfDatabase,
        #[arg(long, default_value_t = 1_000_000)]
        rows: u32,
    },
    /// A row of many bytes.
    LargeRow {
        #[command(flatten)]
        database: OfDatabase,
        #[arg(long, default_value_t = 50_000_000)]
        bytes: i32,
    },
    /// Clients that vanish without closing their connections.
    HalfOpen {
        #[arg(long, default_value_t = 10_000)]
        sockets: usize,
    },
}

/// Options of the scenarios that need the database.
#[derive(Args)]
struct OfDatabase {
    /// Connection string of the database.
    #[arg(long)]
    database: String,
    /// A file with an identity in each line: the user's id and their token.
    #[arg(long)]
    identities: PathBuf,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let server = ServerProcess::new(arguments.pid);
    let target = client::Target::new(arguments.port, &arguments.key);
    let seconds = arguments.seconds;
    let figures = match arguments.scenario {
        Scenario::Fanout {
            members,
            payload,
            rate,
            window,
        } => {
            let run = Fanout {
                members,
                payload_bytes: payload,
                rate,
                window,
                seconds,
            };
            broadcasts::measure_fanout(&target, &server, run).await?
        }
        Scenario::Channels {
            topics,
            members,
            senders,
            rate,
        } => {
            let run = Channels {
                topics,
                members,
                senders,
                rate,
                seconds,
            };
            broadcasts::measure_channels(&target, &server, run).await?
        }
        Scenario::Joins { sockets } => joins::measure_joins(&target, &server, sockets).await?,
        Scenario::Presence { members, rate } => {
            let run = Presence {
                members,
                rate,
                seconds,
            };
            presence::measure_presence(&target, &server, run).await?
        }
        Scenario::Latency {
            database,
            subscribers,
        } => {
            let identity = &read_identities(&database.identities)?[0];
            let database = &database.database;
            changes::measure_latency(&target, &server, database, identity, subscribers, seconds).await?
        }
        Scenario::Transaction { database, rows } => {
            let identity = &read_identities(&database.identities)?[0];
            faults::measure_transaction(&target, &server, &database.database, identity, rows).await?
        }
        Scenario::LargeRow { database, bytes } => {
            let identity = &read_identities(&database.identities)?[0];
            faults::measure_large_row(&target, &server, &database.database, identity, bytes).await?
        }
        Scenario::HalfOpen { sockets } => faults::measure_half_open(&target, &server, sockets).await?,
        Scenario::Rights {
            database,
            subscribers,
            rate,
        } => {
            let identities = read_identities(&database.identities)?;
            let run = Rights {
                subscribers,
                rate,
                seconds,
            };
            changes::measure_rights(&target, &server, &database.database, &identities, run).await?
        }
    };
    println!("{figures}");
    Ok(())
}

/// Reads the file of [`OfDatabase::identities`].
fn read_identities(path: &Path) -> Result<Vec<Identity>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let identities: Option<Vec<Identity>> = text
        .lines()
        .map(|line| {
            let (id, token) = line.split_once(' ')?;
            Some(Identity {
                id: id.to_owned(),
                token: token.to_owned(),
            })
        })
        .collect();
    let identities = identities.context("a line without an id and a token")?;
    ensure!(!identities.is_empty(), "no identities");
    Ok(identities)
}
