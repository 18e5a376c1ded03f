//! `/pg/table-privileges` and `/pg/column-privileges`: POST grants and DELETE revokes the privileges in a JSON array.
//!
//! Source: postgres-meta 0.99, recorded in `e2e/golden/pg/privileges.json`.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;

use super::body::{parse_body, read_oid, reject_web_page};
use super::transaction::Change;
use crate::error::MetaError;
use crate::lists::json_response;
use crate::sql_text::write_role;
use crate::state::Meta;

/// Returns the quoted qualified name of the relation with oid `$1`.
const RELATION_NAME: &str = "select format('%I.%I', n.nspname, c.relname) from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = $1";

/// Returns `(column) on table schema.relation`, quoted, for a column id such as `16402.3`.
const COLUMN_NAME: &str = "select format('(%I) on table %I.%I', a.attname, n.nspname, c.relname)
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_class c on c.oid = a.attrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where a.attrelid || '.' || a.attnum = $1 and a.attnum > 0 and not a.attisdropped";

/// GRANT or REVOKE.
#[derive(Clone, Copy)]
enum GrantAction {
    Grant,
    Revoke,
}

#[derive(Deserialize)]
struct TablePrivilege {
    #[serde(deserialize_with = "read_oid")]
    relation_id: u32,
    #[serde(flatten)]
    privilege: Privilege,
}

#[derive(Deserialize)]
struct ColumnPrivilege {
    column_id: String,
    #[serde(flatten)]
    privilege: Privilege,
}

/// A privilege and the role that has it, gets it or loses it.
#[derive(Deserialize)]
struct Privilege {
    grantee: String,
    privilege_type: PrivilegeType,
    #[serde(default)]
    is_grantable: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum PrivilegeType {
    All,
    Select,
    Insert,
    Update,
    Delete,
    Truncate,
    References,
    Trigger,
    Maintain,
}

/// `POST /pg/table-privileges [{relation_id, grantee, privilege_type, is_grantable?}]` → the privileges of these relations.
pub(crate) async fn grant_on_tables(
    request: HttpRequest,
    body: web::Bytes,
    meta: web::Data<Meta>,
) -> Result<HttpResponse, MetaError> {
    change_tables(&request, &body, &meta, GrantAction::Grant).await
}

/// `DELETE /pg/table-privileges [{relation_id, grantee, privilege_type}]` → the privileges that are left on these relations.
pub(crate) async fn revoke_on_tables(
    request: HttpRequest,
    body: web::Bytes,
    meta: web::Data<Meta>,
) -> Result<HttpResponse, MetaError> {
    change_tables(&request, &body, &meta, GrantAction::Revoke).await
}

/// `POST /pg/column-privileges [{column_id, grantee, privilege_type, is_grantable?}]` → the privileges of these columns.
pub(crate) async fn grant_on_columns(
    request: HttpRequest,
    body: web::Bytes,
    meta: web::Data<Meta>,
) -> Result<HttpResponse, MetaError> {
    change_columns(&request, &body, &meta, GrantAction::Grant).await
}

/// `DELETE /pg/column-privileges [{column_id, grantee, privilege_type}]` → the privileges that are left on these columns.
pub(crate) async fn revoke_on_columns(
    request: HttpRequest,
    body: web::Bytes,
    meta: web::Data<Meta>,
) -> Result<HttpResponse, MetaError> {
    change_columns(&request, &body, &meta, GrantAction::Revoke).await
}

/// Grants or revokes privileges on relations, all in one transaction, and responds with the privileges that these relations then
/// have.
async fn change_tables(
    request: &HttpRequest,
    body: &[u8],
    meta: &Meta,
    action: GrantAction,
) -> Result<HttpResponse, MetaError> {
    reject_web_page(request)?;
    let privileges: Vec<TablePrivilege> = parse_body(body)?;
    let mut client = meta.connect().await?;
    let change = Change::begin(&mut client, meta).await?;
    let mut ids = Vec::new();
    // An error rolls back the entries before it.
    for one in &privileges {
        let missing = || format!("Cannot find a relation with ID {}", one.relation_id);
        let name = change
            .query_text(RELATION_NAME, &[&one.relation_id], missing)
            .await?;
        change
            .run(&one.privilege.to_statement(action, &format!("on table {name}")))
            .await?;
        ids.push(one.relation_id.to_string());
    }
    respond(change, "/table-privileges", ids).await
}

/// Grants or revokes privileges on columns, all in one transaction, and responds with the privileges that these columns then
/// have.
async fn change_columns(
    request: &HttpRequest,
    body: &[u8],
    meta: &Meta,
    action: GrantAction,
) -> Result<HttpResponse, MetaError> {
    reject_web_page(request)?;
    let privileges: Vec<ColumnPrivilege> = parse_body(body)?;
    let mut client = meta.connect().await?;
    let change = Change::begin(&mut client, meta).await?;
    let mut ids = Vec::new();
    for one in privileges {
        let missing = || format!("Cannot find a column with ID {}", one.column_id);
        let column = change.query_text(COLUMN_NAME, &[&one.column_id], missing).await?;
        change.run(&one.privilege.to_statement(action, &column)).await?;
        ids.push(one.column_id);
    }
    respond(change, "/column-privileges", ids).await
}

async fn respond(change: Change<'_>, path: &str, ids: Vec<String>) -> Result<HttpResponse, MetaError> {
    let objects = change.read_objects(path, ids).await?;
    change.commit().await?;
    Ok(json_response(format!("[{}]", objects.join(","))))
}

impl Privilege {
    fn to_statement(&self, action: GrantAction, subject: &str) -> String {
        let privilege = self.privilege_type.keyword();
        let grantee = write_role(&self.grantee);
        match action {
            GrantAction::Grant => {
                let option = if self.is_grantable {
                    " with grant option"
                } else {
                    ""
                };
                format!("grant {privilege} {subject} to {grantee}{option}")
            }
            // REVOKE also removes the grant option.
            GrantAction::Revoke => format!("revoke {privilege} {subject} from {grantee}"),
        }
    }
}

impl PrivilegeType {
    fn keyword(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Select => "select",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Truncate => "truncate",
            Self::References => "references",
            Self::Trigger => "trigger",
            Self::Maintain => "maintain",
        }
    }
}
