//! Which commands are cut off, and what holds for each afterwards.

use crate::support::Project;

/// Where a command works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a project that does not run.
    Stopped,
    /// In a project that runs.
    Running,
    /// In a new project, into which the running one is imported.
    Target,
    /// In a project that serves the database of the running one.
    Served,
}

/// A command that is cut off.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) place: Place,
    pub(super) arguments: &'static [&'static str],
    /// What must succeed afterwards.
    pub(super) again: &'static [&'static str],
    /// Instead of succeeding, `again` may refuse with this sentence, because the command had done its work before it was cut off: perhaps while it
    /// stopped PostgreSQL at its end.
    pub(super) may_say: Option<&'static str>,
    /// The file that it writes: there and whole when the command has ended with 0, and never there in part.
    pub(super) file: Option<&'static str>,
    /// The longest time after which it is ended. A start of PostgreSQL is within it.
    pub(super) longest_ms: u64,
}

impl Cut {
    /// The words of the command: `start` has the ports of the project.
    pub(super) fn words(&self, project: &Project) -> Vec<String> {
        match self.arguments {
            ["start"] => project.start_arguments(),
            arguments => arguments.iter().map(ToString::to_string).collect(),
        }
    }
}

const fn repeat(place: Place, arguments: &'static [&'static str], longest_ms: u64) -> Cut {
    Cut {
        place,
        arguments,
        again: arguments,
        may_say: None,
        file: None,
        longest_ms,
    }
}

pub(super) const COMMANDS: [Cut; 23] = [
    repeat(Place::Stopped, &["reset", "--yes"], 4000),
    repeat(Place::Stopped, &["migration", "up"], 1500),
    repeat(
        Place::Stopped,
        &[
            "db",
            "query",
            "insert into counted select generate_series(1, 1000)",
        ],
        1200,
    ),
    repeat(Place::Stopped, &["gen", "types", "typescript"], 1500),
    Cut {
        file: Some("cut-off.tar"),
        again: &["backup", "again.tar"],
        ..repeat(Place::Stopped, &["backup", "cut-off.tar"], 2500)
    },
    repeat(Place::Stopped, &["db", "reset", "--yes"], 8000),
    repeat(Place::Stopped, &["restore", "--yes", "kept.tar"], 6000),
    repeat(Place::Stopped, &["migration", "squash"], 6000),
    repeat(Place::Stopped, &["test", "db"], 1500),
    repeat(Place::Stopped, &["migration", "list"], 1200),
    repeat(Place::Stopped, &["sweep", "--older-than", "0s"], 1200),
    Cut {
        again: &["db", "push", "--dry-run"],
        ..repeat(Place::Stopped, &["db", "push"], 1500)
    },
    Cut {
        again: &["migration", "list"],
        // With the project's ports, see `Cut::words`.
        ..repeat(Place::Stopped, &["start"], 2500)
    },
    repeat(Place::Stopped, &["tenants", "create", "acme", "emca"], 1500),
    Cut {
        file: Some("schema.sql"),
        again: &["db", "dump", "-f", "again.sql"],
        ..repeat(Place::Running, &["db", "dump", "-f", "schema.sql"], 1000)
    },
    repeat(Place::Running, &["sweep", "--older-than", "0s"], 500),
    repeat(Place::Running, &["tenants", "migrate"], 500),
    repeat(Place::Running, &["seed", "buckets"], 500),
    repeat(Place::Running, &["test", "db"], 700),
    repeat(Place::Running, &["db", "reset", "--yes"], 8000),
    Cut {
        file: Some("cut-off.tar"),
        again: &["backup", "again.tar"],
        ..repeat(Place::Running, &["backup", "cut-off.tar"], 2500)
    },
    Cut {
        // A whole import is not begun again without being asked for.
        may_say: Some("is not empty"),
        ..repeat(Place::Target, &["import"], 8000)
    },
    repeat(Place::Served, &["serve", "--host", "127.0.0.1"], 2000),
];
