//! The seals of the console's audit.

use tokio_postgres::Client;

use crate::finding::Finding;

/// How many entries a message names.
const NAMED: usize = 5;

const LIST_FAULTS: &str = "select entry_id, fault from selvedge_console.check_audit_seals()";
const NEWEST_SEAL: &str = "select s.entry_id, pg_catalog.encode(s.seal, 'hex')
    from selvedge_console.selvedge_audit_seals as s order by s.entry_id desc limit 1";

/// Compares the entries of the console's audit with their seals. `is_older`: an older version of this program has made the platform schema.
pub(crate) async fn examine_audit(client: &Client, is_older: bool) -> Finding {
    let faults = match client.query(LIST_FAULTS, &[]).await {
        Ok(rows) => rows,
        Err(_) if is_older => return Finding::outdated("audit", "the seals of the console's audit"),
        Err(error) => return Finding::unknown("audit", &error),
    };
    if !faults.is_empty() {
        let named: Result<Vec<String>, tokio_postgres::Error> = faults
            .iter()
            .take(NAMED)
            .map(|row| {
                Ok(format!(
                    "{} ({})",
                    row.try_get::<_, i64>(0)?,
                    row.try_get::<_, &str>(1)?
                ))
            })
            .collect();
        return match named {
            Ok(named) => Finding::error(
                "audit",
                format!(
                    "{} entries of the console's audit do not match their seals: {}",
                    faults.len(),
                    named.join(", ")
                ),
                "somebody with the rights of a superuser has changed them; the server's log has a line of each entry, marked `console`",
            ),
            Err(error) => Finding::unknown("audit", &error),
        };
    }
    let newest = client.query_opt(NEWEST_SEAL, &[]).await;
    let newest = newest.and_then(|row| {
        row.map(|row| {
            Ok::<_, tokio_postgres::Error>((row.try_get::<_, i64>(0)?, row.try_get::<_, String>(1)?))
        })
        .transpose()
    });
    match newest {
        Ok(Some((entry, seal))) => Finding::ok(
            "audit",
            format!("every entry matches its seal; that of {entry} is {seal}, as in the log"),
        ),
        Ok(None) => Finding::ok("audit", "no entry of the console's audit is sealed yet"),
        Err(_) if is_older => Finding::outdated("audit", "the seals of the console's audit"),
        Err(error) => Finding::unknown("audit", &error),
    }
}
