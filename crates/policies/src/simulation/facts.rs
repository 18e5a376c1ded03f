//! Reports what the catalog alone decides: exposure, privileges and row security, and the banners that follow from it.

use super::report::{Report, StepName};
use crate::catalog::{ColumnRight, Policy, Table};
use crate::request::{Subject, Verb};
use crate::truth::Statement;

/// Adds the step about the exposed schemas.
pub(crate) fn report_exposure(report: &mut Report, table: &Table, exposed: &[String]) {
    let is_exposed = exposed.contains(&table.schema);
    let text = match is_exposed {
        true => format!("The schema {} is exposed by the API.", table.schema),
        false => format!("The schema {} is not exposed by the API.", table.schema),
    };
    report.add_step(StepName::Exposed, is_exposed, text, Vec::new());
    if !is_exposed {
        report.add_banner(format!(
            "The API refuses every request to the schema {} because it is not exposed; what follows is what the \
             database would say.",
            table.schema
        ));
    }
}

/// Adds the step about privileges. Returns whether the role has all that the statement needs.
pub(crate) fn report_privileges(
    report: &mut Report,
    table: &Table,
    statement: &Statement,
    role: &str,
) -> bool {
    let missing = missing_privileges(table, statement, role);
    let text = match missing.is_empty() {
        true => format!("{role} has the privileges that the statement needs."),
        false => format!("{role} lacks privileges."),
    };
    let ok = missing.is_empty();
    let details = match ok {
        true => table.grants.clone(),
        false => missing,
    };
    report.add_step(StepName::Privilege, ok, text, details);
    ok
}

fn missing_privileges(table: &Table, statement: &Statement, role: &str) -> Vec<String> {
    let mut missing = Vec::new();
    if !table.may_use_schema {
        missing.push(format!("{role} may not use the schema {}", table.schema));
    }
    for (right, columns) in &statement.needs {
        let lacking: Vec<&str> = table
            .columns
            .iter()
            .filter(|column| columns.contains(&column.name) && !column.allows(*right))
            .map(|column| column.name.as_str())
            .collect();
        if lacking.is_empty() {
            continue;
        }
        // When every column lacks the right, it was not granted for the table at all.
        let place = match lacking.len() == table.columns.len() {
            true => String::new(),
            false => format!(" on the column {}", lacking.join(", ")),
        };
        let text = format!("{role} has no privilege {}{place}", right.name());
        if !missing.contains(&text) {
            missing.push(text);
        }
    }
    // `insert … default values` names no column, so PostgreSQL requires INSERT on any column.
    let inserts = matches!(statement.verb, Verb::Insert | Verb::Upsert);
    let names_columns = statement
        .needs
        .iter()
        .any(|(right, _)| *right == ColumnRight::Insert);
    if inserts && !names_columns && !table.may_insert_anything {
        missing.push(format!("{role} has no privilege insert"));
    }
    if statement.verb == Verb::Delete && !table.may_delete {
        missing.push(format!("{role} has no privilege delete"));
    }
    missing
}

/// Adds the step about row-level security.
pub(crate) fn report_row_security(report: &mut Report, table: &Table, role: &str) {
    let text = match (table.can_have_policies(), table.rls_enabled) {
        (false, _) => "Views and foreign tables have no policies of their own.".to_owned(),
        (true, false) => "Row-level security is off: the privileges alone decide.".to_owned(),
        (true, true) if table.bypasses_rls => {
            format!("Row-level security is on, but {role} bypasses it.")
        }
        (true, true) if !table.is_row_security_active() => {
            format!("Row-level security is on, but {role} has the rights of the table's owner.")
        }
        (true, true) if table.rls_forced => {
            "Row-level security is on, for the table's owner, too.".to_owned()
        }
        (true, true) => "Row-level security is on.".to_owned(),
    };
    // This step refuses nothing; the next ones say whether the policies let a row pass.
    report.add_step(StepName::Rls, true, text, Vec::new());
}

/// Adds the step about the policies, and the banners about where their explanation may differ from PostgreSQL.
pub(crate) fn report_policies(report: &mut Report, table: &Table, policies: &[Policy], subject: &Subject) {
    // Unsaved policies take no part in the real statement, so banners speak of saved ones only.
    let applying = policies.iter().filter(|policy| policy.applies && !policy.unsaved);
    let names: Vec<String> = applying
        .clone()
        .map(|policy| {
            let kind = if policy.permissive {
                "permissive"
            } else {
                "restrictive"
            };
            format!("{} ({kind}, {})", policy.name, policy.command.name())
        })
        .collect();
    let text = match names.len() {
        0 => format!("No policy applies to {}.", subject.role),
        1 => format!("One policy applies to {}.", subject.role),
        count => format!("{count} policies apply to {}.", subject.role),
    };
    report.add_step(StepName::Policies, !names.is_empty(), text, names);
    for policy in applying {
        if policy.facts.is_volatile {
            report.add_banner(format!(
                "The policy \"{}\" calls a volatile function, which may give another value each time.",
                policy.name
            ));
        }
        if policy.facts.reads_views {
            report.add_banner(format!(
                "The policy \"{}\" reads a view, which shows what its owner may see.",
                policy.name
            ));
        }
        if policy.facts.uses_system_columns {
            report.add_banner(format!(
                "The policy \"{}\" uses a system column, which a row that is handed over does not have.",
                policy.name
            ));
        }
    }
    if table.kind != "r" && table.kind != "p" {
        report.add_banner(
            "Which rows a view shows is decided by the tables below it, under the rights of its owner.",
        );
    }
}
