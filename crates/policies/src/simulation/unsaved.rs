//! Policies that are being written, beside the saved ones.

use tokio_postgres::GenericClient;

use crate::SimulationError;
use crate::catalog::{Command, Policy, PolicyFacts};
use crate::request::UnsavedPolicy;

/// Turns a proposed policy into one of the table's, applying to the role as it would when saved.
///
/// # Errors
/// [`SimulationError::NoRole`] for a role that does not exist, [`SimulationError::Invalid`] for expressions that its
/// command does not take.
pub(crate) async fn resolve_unsaved(
    owner: &impl GenericClient,
    proposed: &UnsavedPolicy,
    role: &str,
) -> Result<Policy, SimulationError> {
    let takes_using = proposed.command != Command::Insert;
    let takes_check = !matches!(proposed.command, Command::Select | Command::Delete);
    // An empty field of a form means that the policy has no such expression.
    let nonempty = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let (using, check) = (nonempty(&proposed.using), nonempty(&proposed.check));
    if (using.is_some() && !takes_using) || (check.is_some() && !takes_check) {
        return Err(SimulationError::Invalid(
            "INSERT policies take only a check, SELECT and DELETE policies only a using expression.".into(),
        ));
    }
    // CREATE POLICY without TO means public.
    let mut applies = proposed.roles.is_empty();
    for name in &proposed.roles {
        applies |= name == "public" || has_rights_of(owner, role, name).await?;
    }
    let mut roles = proposed.roles.clone();
    if roles.is_empty() {
        roles.push("public".into());
    }
    Ok(Policy {
        name: proposed.name.clone(),
        command: proposed.command,
        permissive: proposed.permissive,
        roles,
        applies,
        using,
        check,
        unsaved: true,
        facts: PolicyFacts::default(),
    })
}

async fn has_rights_of(owner: &impl GenericClient, role: &str, other: &str) -> Result<bool, SimulationError> {
    let sql = "select pg_has_role($1::text::name, r.oid, 'usage') from pg_roles r where r.rolname = $2";
    let row = owner.query_opt(sql, &[&role, &other]).await?;
    row.map(|row| row.get(0))
        .ok_or_else(|| SimulationError::NoRole(other.to_owned()))
}
