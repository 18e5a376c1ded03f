//! `GET|PUT|DELETE /bucket/{id}/lifecycle`: rules that remove old versions of objects.

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use selvedge_gateway::BodyForm;
use serde_json::Value;

use crate::context::RequestContext;
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::object::commit::{connect, limit_wait};
use crate::request::json_body::{EmptyBody, read_json, read_json_of};
use crate::response::json::{json_response, message_response};
use crate::versions::LifecycleRules;

/// Most values and names of a body: of 1000 rules, each with all that it may have.
const MOST_VALUES: usize = 20_000;

const GET: &str = "select lifecycle_configuration::text as rules from storage.buckets where id = $1";

/// Subject to the policies for SELECT and UPDATE on the bucket.
const TRY_UPDATE: &str = "update storage.buckets set public = public where id = $1 returning id";

const LOCK: &str = "select type::text as type, lifecycle_configuration::text as rules from storage.buckets where id = $1 for update";

const SET: &str = "update storage.buckets set lifecycle_configuration = $2::text::jsonb, \
     lifecycle_generation = lifecycle_generation + 1 where id = $1";

/// `{rules}`. Source: STORE-230.
///
/// # Errors
/// `NoSuchBucket`, `NoSuchLifecycleConfiguration`.
pub(crate) async fn get_lifecycle(context: &RequestContext, id: &str) -> Result<HttpResponse, StorageError> {
    let rules = find_rules(&context.caller()?, id).await?;
    Ok(json_response(
        &rules.ok_or(StorageError::NoSuchLifecycleConfiguration)?,
    ))
}

/// The stored form of the rules in the body, which replace all others. Source: STORE-230, STORE-232 to STORE-234.
///
/// # Errors
/// `InvalidParameter`; `NoSuchBucket`; `AccessDenied` without the right to change the bucket.
pub(crate) async fn set_lifecycle(
    context: &RequestContext,
    id: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let form = BodyForm::JsonOf(MOST_VALUES);
    let body = read_json_of(&context.request, payload, EmptyBody::Refused, form).await?;
    let rules = LifecycleRules::read(&body.unwrap_or_default())
        .map_err(|error| StorageError::InvalidText(error.to_string()))?;
    store_rules(&caller, &context.service(), id, Some(&rules)).await?;
    Ok(json_response(&rules))
}

/// `{"message":"Successfully deleted"}`, also when there were no rules.
///
/// # Errors
/// `NoSuchBucket`, `AccessDenied`.
pub(crate) async fn delete_lifecycle(
    context: &RequestContext,
    id: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    read_json(&context.request, payload, EmptyBody::Accepted).await?;
    store_rules(&caller, &context.service(), id, None).await?;
    Ok(message_response("Successfully deleted"))
}

/// The rules of a bucket that the caller may see; `None` when it has none.
///
/// # Errors
/// `NoSuchBucket`.
pub(crate) async fn find_rules(caller: &DbSession, id: &str) -> Result<Option<Value>, StorageError> {
    let rows = caller.read(Statement::new(GET).bind(id)).await?;
    let row = rows.first().ok_or(StorageError::NoSuchBucket)?;
    let text: Option<String> = row.try_get("rules").map_err(StorageError::internal)?;
    let rules = text.map(|text| serde_json::from_str(&text)).transpose();
    rules.map_err(StorageError::internal)
}

/// Replaces the rules of a bucket, if the caller may change it. Equal rules are no change.
///
/// # Errors
/// `NoSuchBucket`, `AccessDenied`; `InvalidRequest` for a bucket of another type.
pub(crate) async fn store_rules(
    caller: &DbSession,
    service: &DbSession,
    id: &str,
    rules: Option<&LifecycleRules>,
) -> Result<(), StorageError> {
    // The policies that hide the bucket hide that it exists.
    find_rules(caller, id).await?;
    let mut client = connect(service.storage()).await?;
    let mut transaction = service.transaction(&mut client).await?;
    limit_wait(service.storage(), &transaction).await?;
    let row = transaction
        .query_opt(LOCK, &[&id])
        .await
        .map_err(map_error)?
        .ok_or(StorageError::NoSuchBucket)?;
    check_right(caller, &mut transaction, id).await?;
    let read = || -> Result<(String, Option<String>), tokio_postgres::Error> {
        Ok((row.try_get("type")?, row.try_get("rules")?))
    };
    let (kind, stored) = read().map_err(StorageError::internal)?;
    if kind != "STANDARD" {
        return Err(StorageError::Schema(
            "Only standard buckets have lifecycle rules".to_owned(),
        ));
    }
    let stored: Value = stored
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let is_equal = rules.map_or(stored.is_null(), |rules| rules.equals(&stored));
    if !is_equal {
        let text = rules.map(serde_json::to_string).transpose();
        let text = text.map_err(StorageError::internal)?;
        transaction.execute(SET, &[&id, &text]).await.map_err(map_error)?;
    }
    let end = transaction.commit().await;
    end.map_err(|error| StorageError::from_commit(error, UniqueKey::Other))
}

/// Asks the policies by changing the bucket and going back.
async fn check_right(
    caller: &DbSession,
    transaction: &mut Transaction<'_>,
    id: &str,
) -> Result<(), StorageError> {
    let savepoint = transaction.savepoint("asked").await.map_err(map_error)?;
    caller.become_caller(&savepoint).await?;
    let asked = savepoint.query_opt(TRY_UPDATE, &[&id]).await;
    savepoint.rollback().await.map_err(map_error)?;
    let allowed = asked.map_err(map_error)?;
    let denied = || StorageError::AccessDenied("Access denied".to_owned());
    allowed.map(drop).ok_or_else(denied)
}

fn map_error(error: tokio_postgres::Error) -> StorageError {
    match StorageError::from_tokio_postgres(error, UniqueKey::Other) {
        StorageError::ResourceLocked => StorageError::LockTimeout,
        other => other,
    }
}
