//! Arguments of `selvedge rest`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Clone, Args)]
pub struct RestArgs {
    /// A configuration file of PostgREST; variables PGRST_* win over it
    #[arg(value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The database [env: PGRST_DB_URI; file: db-uri]
    #[arg(long, value_name = "URL")]
    pub db_url: Option<String>,
    /// Address to listen on [default: 0.0.0.0; env: PGRST_SERVER_HOST]
    #[arg(long)]
    pub host: Option<String>,
    /// Port to listen on [default: 3000; env: PGRST_SERVER_PORT]
    #[arg(long)]
    pub port: Option<u16>,
    /// Threads that serve requests [default: one per core, at most half as many as connections]
    #[arg(long)]
    pub workers: Option<usize>,
    /// Log one JSON object per line
    #[arg(long)]
    pub json_logs: bool,
    /// What to log: a level (info, debug) or filters (selvedge_rest=debug,warn) [default: PGRST_LOG_LEVEL, or error]
    #[arg(long, value_name = "FILTER")]
    pub log: Option<String>,
    #[command(flatten)]
    pub report: RestReportArgs,
}

/// Options that make `selvedge rest` print or check something instead of serving; at most one of them.
#[derive(Debug, Clone, Copy, Args)]
#[group(multiple = false)]
pub struct RestReportArgs {
    /// Print a configuration file with all settings and their defaults, and exit
    #[arg(long)]
    pub example: bool,
    /// Print the settings of file, environment, flags and database without secrets, and exit
    #[arg(long)]
    pub dump_config: bool,
    /// Print the schema cache as JSON, and exit
    #[arg(long)]
    pub dump_schema: bool,
    /// Ask the admin server of the running process whether it is ready, and exit with 0 or 1
    #[arg(long)]
    pub ready: bool,
}
