//! `GET /api/access`: what each role may do with each table.

use actix_web::{HttpResponse, web};
use selvedge_policies::load_access_matrix;

use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// `GET /api/access` → `{roles, tables: [{oid, schema, name, cells}]}`
pub(super) async fn show(
    state: web::Data<ConsoleState>,
    session: Session,
) -> Result<HttpResponse, ConsoleError> {
    let client = state.database.connection(session.level).await?;
    let matrix = load_access_matrix(&**client).await?;
    Ok(HttpResponse::Ok().json(matrix))
}
