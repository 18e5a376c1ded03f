//! Who may become whom: the login of `DATABASE_URL`, the rights of `postgres`, logins without a password, and settings of the database
//! that hold for every login.

use selvedge_database::harmful_settings::list_harmful_settings;
use selvedge_database::local_logins::{ADVICE, list_open_lines};
use selvedge_postgres::PrivilegedSession;

use crate::finding::Finding;

const ABOUT_POSTGRES: &str = "select exists (select from pg_catalog.pg_roles as r
     where r.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name and r.rolsuper)";

/// Examines the rights behind `session`. The lines of `pg_hba.conf` are of interest where this program has not written them.
pub(crate) async fn examine_rights(session: &PrivilegedSession, is_external: bool) -> Vec<Finding> {
    let mut findings = check_settings(session).await;
    match session.query_one(ABOUT_POSTGRES, &[]).await {
        Ok(row) if row.get(0) => findings.push(Finding::error(
            "rights",
            "postgres is a superuser, so every migration and the console's admins have the rights of the database's machine",
            "make another role the superuser, and `alter role postgres nosuperuser`",
        )),
        Ok(_) => {}
        Err(error) => findings.push(Finding::unknown("rights", &error)),
    }
    if session.is_superuser() {
        findings.push(Finding::warning(
            "rights",
            "DATABASE_URL names a superuser: only `migrate up` and `import` need one, and `serve` refuses it",
            "use the login authenticator for `serve`, and postgres for migrations: docs/operations.md",
        ));
        findings.push(check_passwordless_logins(session).await);
    } else if is_external {
        let lines = "logins without a password (pg_hba_file_rules)";
        findings.push(Finding::unread("rights", &[lines], "a superuser"));
    }
    findings
}

async fn check_settings(session: &PrivilegedSession) -> Vec<Finding> {
    match list_harmful_settings(session).await {
        Ok(settings) => settings
            .iter()
            .map(|setting| Finding::error("settings", setting.describe(), setting.advice()))
            .collect(),
        Err(error) => vec![Finding::warning(
            "settings",
            format!("{error:#}"),
            "repeat the examination",
        )],
    }
}

async fn check_passwordless_logins(session: &PrivilegedSession) -> Finding {
    match list_open_lines(session).await {
        Ok(lines) if lines.is_empty() => Finding::ok("rights", "every login needs a password"),
        Ok(lines) => Finding::warning(
            "rights",
            format!("logins without a password are allowed: {}", lines.join("; ")),
            ADVICE,
        ),
        Err(error) => Finding::warning("rights", format!("{error:#}"), ADVICE),
    }
}
