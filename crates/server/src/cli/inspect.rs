//! Arguments of `selvedge inspect`, named as those of the Supabase CLI.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{RowFormat, TargetArgs};

#[derive(Debug, Args)]
pub struct InspectArgs {
    #[command(subcommand)]
    pub what: InspectCommand,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Subcommand)]
pub enum InspectCommand {
    /// Print one report about the database
    Db(InspectDbArgs),
    /// Write all reports as CSV files, in a folder named by the day
    Report(InspectReportArgs),
}

#[derive(Debug, Args)]
pub struct InspectDbArgs {
    /// The report
    #[arg(value_enum)]
    pub report: Report,
    /// How to print rows
    #[arg(short, long, value_enum, default_value_t = RowFormat::Table)]
    pub output: RowFormat,
}

#[derive(Debug, Args)]
pub struct InspectReportArgs {
    /// Where the folder is made
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub output_dir: PathBuf,
}

/// A report about the database. Compat: older versions of the CLI have several names for what is one report now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Report {
    /// Space that dead rows keep in tables and indexes
    Bloat,
    /// Statements that wait for a lock, and those that hold it
    Blocking,
    /// The statements that were run most often
    Calls,
    /// Sizes of the database and how often a block was found in memory
    #[value(alias = "cache-hit")]
    DbStats,
    /// Size and use of each index
    #[value(aliases = ["index-usage", "total-index-size", "index-sizes", "unused-indexes", "seq-scans"])]
    IndexStats,
    /// Statements that hold an exclusive lock
    Locks,
    /// Statements that have been running for more than five minutes
    LongRunningQueries,
    /// The statements that took most time in all
    Outliers,
    /// Replication slots and how far their readers are behind
    ReplicationSlots,
    /// Connections and settings of each role
    #[value(aliases = ["role-configs", "role-connections"])]
    RoleStats,
    /// Size and estimated number of rows of each table
    #[value(aliases = ["table-sizes", "table-index-sizes", "total-table-sizes", "table-record-counts"])]
    TableStats,
    /// Whether each table is mostly read or mostly written
    TrafficProfile,
    /// When each table was vacuumed, and whether it is due
    VacuumStats,
}
