//! The PostgreSQL server: version, clock, settings, connections, and age of its transactions.

pub(crate) mod audit;
pub(crate) mod hosts;
pub(crate) mod identities;
pub(crate) mod replicas;
pub(crate) mod replication;
pub(crate) mod rights;
pub(crate) mod upgrades;

use std::collections::HashMap;
use std::time::SystemTime;

use selvedge_config::Config;
use selvedge_database::capacity::ConnectionCount;
use selvedge_database::server_roles::{MD5_IS_ACCEPTED, list_md5_roles};
use selvedge_postgres::migrate::{
    PrivilegeFault, ReadablePasswords, find_privilege_faults, find_role_faults, is_platform_applied,
};
use tokio_postgres::{Client, Error};

use crate::finding::{Finding, Status};

/// Oldest and newest major version that the services are tested with.
const MAJOR_VERSIONS: std::ops::RangeInclusive<i32> = 15..=18;
/// Two clocks further apart than this refuse each other's tokens, which are accepted for 30 s around their times.
const MAX_CLOCK_DIFFERENCE_S: f64 = 30.0;
/// With a larger difference a node may read from a replica that lacks what its user has just written (`docs/operations.md`).
const GOOD_CLOCK_DIFFERENCE_S: f64 = 1.0;
/// PostgreSQL stops accepting writes when a database is 2 000 million transactions old.
const OLD_TRANSACTION_AGE: i64 = 1_000_000_000;

/// Whether the policy that hides old versions of objects is there, in a database that may have some. Scripts that drop all policies of
/// `storage.objects` drop it, too.
const HIDES_VERSIONS: &str = "select pg_catalog.to_regclass('storage.object_history') is null or exists ( \
     select from pg_catalog.pg_policy p where p.polrelid = pg_catalog.to_regclass('storage.objects') \
     and p.polname = 'objects_of_today' and not p.polpermissive)";

/// Groups of objects with one version, at most 20. Only SQL can have written that, before users were kept from the column.
const SHARED_VERSIONS: &str = "select pg_catalog.string_agg(o.bucket_id || '/' || o.name, ', ' order by o.created_at) \
     from storage.objects o where o.version is not null and o.version <> '1' \
     group by o.version having pg_catalog.count(*) > 1 limit 20";

/// Examines the server behind `client`.
pub(crate) async fn examine_server(config: &Config, client: &Client) -> Vec<Finding> {
    let mut findings = Vec::new();
    for result in [
        check_version(client).await,
        check_platform(client).await,
        check_clock(client).await,
        check_connections(config, client).await,
        check_transactions(client).await,
    ] {
        findings.push(result.unwrap_or_else(|error| Finding::unknown("database", &error)));
    }
    match check_privileges(config, client).await {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(Finding::unknown("privileges", &error)),
    }
    match read_settings(client).await {
        Ok(settings) => findings.extend(check_settings(config, &settings)),
        Err(error) => findings.push(Finding::unknown("settings", &error)),
    }
    findings
}

async fn check_version(client: &Client) -> Result<Finding, Error> {
    let row = client
        .query_one(
            "select current_setting('server_version'), current_setting('server_version_num')::int / 10000",
            &[],
        )
        .await?;
    let (version, major): (String, i32) = (row.get(0), row.get(1));
    let message = format!("PostgreSQL {version}");
    Ok(if MAJOR_VERSIONS.contains(&major) {
        Finding::ok("postgresql", message)
    } else {
        Finding::error("postgresql", message, "use PostgreSQL 15, 16, 17 or 18")
    })
}

async fn check_platform(client: &Client) -> Result<Finding, Error> {
    Ok(match is_platform_applied(client).await {
        Ok(true) => Finding::ok("schema", "the platform schema is up to date"),
        Ok(false) => Finding::error(
            "schema",
            "the platform schema is missing, or an older version made it",
            "run `selvedge migrate up` with a superuser in DATABASE_URL",
        ),
        Err(error) => Finding::warning(
            "schema",
            format!("{error:#}"),
            "use a login in DATABASE_URL that may read the platform schema",
        ),
    })
}

/// Compares the catalog with the rules of docs/decisions.md, "Rights of `postgres`", and says what the login may not read of it.
async fn check_privileges(config: &Config, client: &Client) -> Result<Vec<Finding>, Error> {
    let mut faults = find_privilege_faults(client).await?;
    faults.extend(find_role_faults(client).await?);
    let mut findings = Vec::new();
    if let Some(names) = list_md5_roles(client).await? {
        if config.selvedge.accept_md5_roles {
            let advice = "set their passwords anew by scram-sha-256, and unset SELVEDGE_ACCEPT_MD5_ROLES";
            findings.push(Finding::warning(
                "privileges",
                format!("{MD5_IS_ACCEPTED}: {names}"),
                advice,
            ));
        } else {
            faults.push(PrivilegeFault {
                rule: "passwords of roles with more rights than postgres are stored by scram-sha-256"
                    .to_owned(),
                object: names,
            });
        }
    }
    findings.push(match faults.as_slice() {
        [] => Finding::ok(
            "privileges",
            "`postgres` has no rights of a superuser, as far as the catalog tells",
        ),
        faults => {
            let list: Vec<String> = faults
                .iter()
                .map(|fault| format!("{}, but: {}", fault.rule, fault.object))
                .collect();
            Finding::error(
                "privileges",
                list.join("; "),
                "undo what gave the objects more rights than the platform schema does (docs/decisions.md, \"Rights of `postgres`\")",
            )
        }
    });
    let unread = ReadablePasswords::of(client).await?.list_unread();
    if !unread.is_empty() {
        let needs = "postgres, a superuser, or a member of pg_read_all_data and pg_read_all_settings";
        findings.push(Finding::unread("privileges", &unread, needs));
    }
    Ok(findings)
}

/// Whether each object has bytes of its own. Indexes and policies of the project run in it, so the session is no superuser's.
pub(crate) async fn examine_versions(client: &Client) -> Finding {
    check_versions(client)
        .await
        .unwrap_or_else(|error| Finding::unknown("objects", &error))
}

async fn check_versions(client: &Client) -> Result<Finding, Error> {
    let has_storage = client
        .query_one(
            "select pg_catalog.to_regclass('storage.objects') is not null",
            &[],
        )
        .await?;
    if !has_storage.try_get::<_, bool>(0)? {
        return Ok(Finding::ok("objects", "there is no storage"));
    }
    if !client
        .query_one(HIDES_VERSIONS, &[])
        .await?
        .try_get::<_, bool>(0)?
    {
        return Ok(Finding::error(
            "objects",
            "the policy objects_of_today on storage.objects is missing: whoever may read objects by SQL reads their old versions, too",
            "create policy objects_of_today on storage.objects as restrictive for all to public using (archived_at is null and not is_delete_marker \
             or (select current_setting('storage.object_versions', true)) = 'all')",
        ));
    }
    let rows = client.query(SHARED_VERSIONS, &[]).await?;
    let names: Vec<String> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    if names.is_empty() {
        return Ok(Finding::ok("objects", "every object has bytes of its own"));
    }
    Ok(Finding::error(
        "objects",
        format!(
            "objects share their bytes, so somebody has written a version by SQL: {}",
            names.join("; ")
        ),
        "delete the objects that are not the original ones; the bytes stay as long as one object has them",
    ))
}

async fn check_clock(client: &Client) -> Result<Finding, Error> {
    let asked = SystemTime::now();
    let row = client.query_one("select clock_timestamp()", &[]).await?;
    let round_trip = asked.elapsed().unwrap_or_default();
    let theirs: SystemTime = row.get(0);
    // The server read its clock about half-way between question and answer.
    let ours = asked + round_trip / 2;
    let difference_s = match theirs.duration_since(ours) {
        Ok(ahead) => ahead.as_secs_f64(),
        Err(behind) => -behind.duration().as_secs_f64(),
    };
    let message = format!("the database's clock differs from this machine's by {difference_s:+.3} s");
    let advice = "synchronize the clocks of both machines (chrony, systemd-timesyncd)";
    Ok(match difference_s.abs() {
        difference if difference > MAX_CLOCK_DIFFERENCE_S => Finding::error("clock", message, advice),
        difference if difference > GOOD_CLOCK_DIFFERENCE_S => Finding::warning("clock", message, advice),
        _ => Finding::ok("clock", message),
    })
}

/// Connections in use, and those that all nodes may open at most, next to those that the server allows.
async fn check_connections(config: &Config, client: &Client) -> Result<Finding, Error> {
    let count = ConnectionCount::read(config, client).await?;
    let message = format!(
        "{} of {} connections are in use; {} of this kind may open {}",
        count.used,
        count.allowed,
        match count.nodes {
            1 => "a node".to_owned(),
            nodes => format!("{nodes} nodes"),
        },
        count.most()
    );
    let advice = format!(
        "raise max_connections to {} or more, lower `workers`, PGRST_DB_POOL or `service_connections`, or put a pooler in front \
         (docs/scaling.md)",
        count.most() + 3
    );
    // Statements that run long at many nodes at once are rare on a developer's machine.
    let may_exceed = count.exceeds() && config.selvedge.database_url.is_some();
    Ok(match count.used * 100 / count.allowed.max(1) {
        95.. => Finding::error("connections", message, advice),
        80.. => Finding::warning("connections", message, advice),
        _ if may_exceed => Finding::warning("connections", message, advice),
        _ => Finding::ok("connections", message),
    })
}

/// Old transactions keep vacuum from removing rows, and a database whose rows are too old stops accepting writes.
async fn check_transactions(client: &Client) -> Result<Finding, Error> {
    let row = client
        .query_one(
            "select coalesce(extract(epoch from max(now() - xact_start)), 0)::float8, \
                    (select max(age(datfrozenxid))::int8 from pg_database) \
             from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
            &[],
        )
        .await?;
    let (oldest_s, age): (f64, i64) = (row.get(0), row.get(1));
    if age > OLD_TRANSACTION_AGE {
        return Ok(Finding::error(
            "transactions",
            format!("the oldest row is {} million transactions old", age / 1_000_000),
            "find what keeps vacuum from running (autovacuum = off, prepared transactions, slots), then `vacuum (freeze)`",
        ));
    }
    let message = format!("the oldest open transaction began {oldest_s:.0} s ago");
    Ok(if oldest_s > 3600.0 {
        Finding::warning(
            "transactions",
            message,
            "end it with pg_terminate_backend, and set idle_in_transaction_session_timeout",
        )
    } else {
        Finding::ok("transactions", message)
    })
}

async fn read_settings(client: &Client) -> Result<HashMap<String, String>, Error> {
    let rows = client.query("select name, setting from pg_settings", &[]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// A value of a setting that is a fault, what it leads to, and what to do about it.
struct BadSetting {
    name: &'static str,
    value: &'static str,
    status: Status,
    consequence: &'static str,
    advice: &'static str,
}

const BAD_SETTINGS: [BadSetting; 5] = [
    BadSetting {
        name: "fsync",
        value: "off",
        status: Status::Error,
        consequence: "a crash of the machine can destroy the database",
        advice: "set fsync = on",
    },
    BadSetting {
        name: "full_page_writes",
        value: "off",
        status: Status::Error,
        consequence: "a crash of the machine can destroy pages of the database",
        advice: "set full_page_writes = on",
    },
    BadSetting {
        name: "autovacuum",
        value: "off",
        status: Status::Error,
        consequence: "tables grow without bound, and the database stops in the end",
        advice: "set autovacuum = on",
    },
    BadSetting {
        name: "synchronous_commit",
        value: "off",
        status: Status::Warning,
        consequence: "the last moments of acknowledged writes are lost in a crash",
        advice: "set synchronous_commit = on unless the project can bear that",
    },
    BadSetting {
        name: "max_slot_wal_keep_size",
        value: "-1",
        status: Status::Warning,
        consequence: "a replication slot that nobody reads fills the disk",
        advice: "set max_slot_wal_keep_size, for example to 4GB",
    },
];

/// Settings that decide whether the services work, and whether what they acknowledge is safe.
fn check_settings(config: &Config, settings: &HashMap<String, String>) -> Vec<Finding> {
    let is = |name: &str, value: &str| settings.get(name).is_some_and(|found| found == value);
    let bad = BAD_SETTINGS.iter().filter(|bad| is(bad.name, bad.value));
    let mut findings: Vec<Finding> = bad
        .map(|bad| Finding {
            status: bad.status,
            ..Finding::warning(
                "settings",
                format!("{} is {}: {}", bad.name, bad.value, bad.consequence),
                bad.advice,
            )
        })
        .collect();
    if config.realtime.enabled && !is("wal_level", "logical") {
        findings.push(Finding::error(
            "settings",
            "wal_level is not logical, so Realtime delivers no changes of the database",
            "set wal_level = logical and restart PostgreSQL, or switch Realtime off",
        ));
    }
    if findings.is_empty() {
        findings.push(Finding::ok(
            "settings",
            "the settings of PostgreSQL suit the services",
        ));
    }
    findings
}
