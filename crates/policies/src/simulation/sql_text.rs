//! Explains what decides about the tables that an SQL text touches.

use serde_json::Value;
use tokio_postgres::GenericClient;

use super::report::{Report, StepName};
use crate::SimulationError;
use crate::catalog::{load_policies, load_table};
use crate::request::Subject;

/// Adds a step for each table of the statement's plan. The plan is made as the owner, so that it shows all tables.
///
/// # Errors
/// PostgreSQL's errors other than those of the text.
pub(crate) async fn report_tables_of_sql(
    report: &mut Report,
    owner: &impl GenericClient,
    subject: &Subject,
    text: &str,
) -> Result<(), SimulationError> {
    let plan = match owner
        .query_one(&format!("explain (verbose, format json) {text}"), &[])
        .await
    {
        Ok(row) => row.get::<_, Value>(0),
        // The text has a syntax error, or is a statement without a plan such as SET. The real run reports PostgreSQL's
        // error.
        Err(error) if error.as_db_error().is_some() => {
            report.add_banner("The statement's tables are unknown because PostgreSQL has no plan for it.");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    // From here on nothing of the developer's own is resolved, and names have to come qualified.
    let mut names = Vec::new();
    collect_relations(&plan, &mut names);
    owner.batch_execute("set local search_path = ''").await?;
    for (schema, name) in names {
        report_table(report, owner, subject, &schema, &name).await?;
    }
    Ok(())
}

fn collect_relations(plan: &Value, names: &mut Vec<(String, String)>) {
    match plan {
        Value::Array(items) => items.iter().for_each(|item| collect_relations(item, names)),
        Value::Object(node) => {
            let text = |key: &str| node.get(key).and_then(Value::as_str).map(str::to_owned);
            if let (Some(schema), Some(name)) = (text("Schema"), text("Relation Name"))
                && !names.contains(&(schema.clone(), name.clone()))
            {
                names.push((schema, name));
            }
            node.values().for_each(|value| collect_relations(value, names));
        }
        _ => {}
    }
}

async fn report_table(
    report: &mut Report,
    owner: &impl GenericClient,
    subject: &Subject,
    schema: &str,
    name: &str,
) -> Result<(), SimulationError> {
    let sql = "select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace \
               where n.nspname = $1 and c.relname = $2";
    let Some(row) = owner.query_opt(sql, &[&schema, &name]).await? else {
        return Ok(());
    };
    let oid: u32 = row.get(0);
    let table = load_table(owner, oid, &subject.role).await?;
    let role = &subject.role;
    let privileged = table.may_use_schema && !table.grants.is_empty();
    report.add_step(
        StepName::Privilege,
        privileged,
        match privileged {
            true => format!("{schema}.{name}: {role} has privileges."),
            false => format!("{schema}.{name}: {role} has no privilege."),
        },
        table.grants.clone(),
    );
    // Where no policy decides, listing them would suggest that one does.
    if !table.is_row_security_active() {
        let text = format!("{schema}.{name}: no policy decides for {role}.");
        report.add_step(StepName::Rls, true, text, Vec::new());
        return Ok(());
    }
    let policies = load_policies(owner, oid, role).await?;
    let details: Vec<String> = policies
        .iter()
        .filter(|policy| policy.applies)
        .map(|policy| {
            let expression = policy.using.as_ref().or(policy.check.as_ref());
            let expression = expression.map_or("", String::as_str);
            format!("{} for {}: {expression}", policy.name, policy.command.name())
        })
        .collect();
    let text = match details.len() {
        0 => format!("{schema}.{name}: row-level security is on and no policy applies to {role}."),
        _ => format!("{schema}.{name}: row-level security is on; these policies apply to {role}."),
    };
    report.add_step(StepName::Policies, !details.is_empty(), text, details);
    Ok(())
}
