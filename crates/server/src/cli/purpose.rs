//! What each command does to the project: the name under which it holds the project's lock, and whether it writes to a
//! database.

use selvedge_postgres::cluster::LockPurpose;

use super::{ClusterAction, Command, DbAction, FunctionsAction, MigrateAction, TenantsAction, TestSuite};

impl Command {
    /// For what the command takes the project's lock.
    pub(super) fn purpose(&self) -> LockPurpose {
        let name = match self {
            Self::Start(_) => return LockPurpose::server("start"),
            Self::Serve(_) => return LockPurpose::server(LockPurpose::SERVE),
            Self::Cluster(args) => match args.action {
                ClusterAction::Run(_) => return LockPurpose::server(LockPurpose::KEEP),
                ClusterAction::Restart => "cluster restart",
            },
            Self::Functions(args) if matches!(args.action, FunctionsAction::Serve(_)) => {
                return LockPurpose::server("functions serve");
            }
            Self::Stack(_) => return LockPurpose::server("stack"),
            Self::Migrate(args) => match args.action {
                MigrateAction::Up => "migration up",
                MigrateAction::Down(_) => "migration down",
                MigrateAction::List => "migration list",
                MigrateAction::Repair(_) => "migration repair",
                MigrateAction::Fetch => "migration fetch",
                MigrateAction::Squash(_) => "migration squash",
                MigrateAction::New { .. } => "migration new",
            },
            Self::Db(args) => match args.action {
                DbAction::Start(_) => return LockPurpose::server("start"),
                DbAction::Reset(_) => "db reset",
                DbAction::Push(_) => "db push",
                DbAction::Query(_) => "db query",
                DbAction::Dump(_) => "db dump",
                DbAction::Diff(_) => "db diff",
                DbAction::Pull(_) => "db pull",
                DbAction::Lint(_) => "db lint",
            },
            Self::Tenants(_) => "tenants",
            Self::Reset(_) => "reset",
            Self::Stop(_) => "stop",
            Self::Gen(_) => "gen types",
            Self::Inspect(_) => "inspect",
            Self::Test(_) => "test db",
            Self::Console(_) => "console",
            Self::Database(_) => "database login",
            Self::Extension(_) => "extension",
            Self::Backup(_) => "backup",
            Self::Restore(_) => "restore",
            Self::Import(_) => "import",
            _ => "a command",
        };
        LockPurpose::command(name)
    }

    /// Whether the command changes the database on which it works, so that it says which one that is.
    pub(super) fn writes(&self) -> bool {
        match self {
            Self::Migrate(args) => !matches!(args.action, MigrateAction::List | MigrateAction::New { .. }),
            Self::Db(args) => match &args.action {
                DbAction::Push(push) => !push.dry_run,
                DbAction::Reset(_) | DbAction::Query(_) | DbAction::Pull(_) => true,
                DbAction::Start(_) | DbAction::Dump(_) | DbAction::Diff(_) | DbAction::Lint(_) => false,
            },
            Self::Tenants(args) => !matches!(args.action, TenantsAction::List),
            Self::Sweep(args) => !args.dry_run,
            Self::Test(args) => matches!(args.suite, TestSuite::Db(_)),
            Self::Console(_) | Self::Seed(_) | Self::Import(_) | Self::Storage(_) => true,
            _ => false,
        }
    }
}
