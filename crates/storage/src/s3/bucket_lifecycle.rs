//! `GET|PUT|DELETE /{bucket}?lifecycle`: rules that remove old versions of objects. Source: STORE-237.

use actix_web::HttpResponse;
use serde_json::{Map, Value, json};

use super::buckets::check_visible;
use super::context::S3Context;
use super::error::S3Error;
use super::xml_reader::Element;
use super::xml_writer::{Xml, xml_response};
use crate::bucket::{find_rules, store_rules};
use crate::error::StorageError;
use crate::versions::LifecycleRules;

/// The rules.
///
/// # Errors
/// `NoSuchBucket`, `NoSuchLifecycleConfiguration`.
pub(super) async fn get_lifecycle(context: &S3Context, id: &str) -> Result<HttpResponse, S3Error> {
    check_visible(context, id).await?;
    let rules = find_rules(&context.caller, id).await?;
    let rules = rules.ok_or(StorageError::NoSuchLifecycleConfiguration)?;
    Ok(xml_response(Xml::document("LifecycleConfiguration", |xml| {
        for rule in rules["rules"].as_array().into_iter().flatten() {
            xml.element("Rule", |xml| write_rule(xml, rule));
        }
    })))
}

fn write_rule(xml: &mut Xml, rule: &Value) {
    xml.optional("ID", rule["id"].as_str());
    if rule.get("filter").is_some() {
        xml.element("Filter", |xml| xml.text("Prefix", ""));
    } else {
        xml.text("Prefix", "");
    }
    xml.optional("Status", rule["status"].as_str());
    xml.element("NoncurrentVersionExpiration", |xml| {
        let expiration = &rule["noncurrentVersionExpiration"];
        xml.text("NoncurrentDays", &expiration["noncurrentDays"].to_string());
        let kept = expiration.get("newerNoncurrentVersions");
        xml.optional("NewerNoncurrentVersions", kept.map(Value::to_string).as_deref());
    });
}

/// Replaces the rules.
///
/// # Errors
/// `MalformedXml` for elements that S3 does not have, `InvalidRequest` for what no rule here does; `AccessDenied`, `NoSuchBucket`.
pub(super) async fn put_lifecycle(mut context: S3Context, id: &str) -> Result<HttpResponse, S3Error> {
    let document = Element::parse(&context.take_body()?.document().await?)?;
    let rules = document.children.iter().map(read_rule);
    let rules: Vec<Value> = rules.collect::<Result<_, _>>()?;
    let rules = LifecycleRules::read(&json!({ "rules": rules }))
        .map_err(|error| StorageError::Schema(error.to_string()))?;
    store_rules(&context.caller, &context.service(), id, Some(&rules)).await?;
    Ok(HttpResponse::Ok().finish())
}

/// Removes the rules; 204 also when there were none.
///
/// # Errors
/// `AccessDenied`, `NoSuchBucket`.
pub(super) async fn delete_lifecycle(context: &S3Context, id: &str) -> Result<HttpResponse, S3Error> {
    store_rules(&context.caller, &context.service(), id, None).await?;
    Ok(HttpResponse::NoContent().finish())
}

fn read_rule(element: &Element) -> Result<Value, S3Error> {
    if element.name != "Rule" {
        return Err(unknown(&element.name));
    }
    let mut rule = Map::new();
    for child in &element.children {
        let text = || json!(child.text.trim());
        match child.name.as_str() {
            "ID" => rule.insert("id".to_owned(), text()),
            "Status" => rule.insert("status".to_owned(), text()),
            "Prefix" => rule.insert("legacyPrefix".to_owned(), text()),
            "Filter" => rule.insert("filter".to_owned(), read_filter(child)?),
            "NoncurrentVersionExpiration" => {
                rule.insert("noncurrentVersionExpiration".to_owned(), read_expiration(child)?)
            }
            "Expiration"
            | "Transition"
            | "NoncurrentVersionTransition"
            | "AbortIncompleteMultipartUpload" => {
                return Err(S3Error::InvalidRequest("Rules remove noncurrent versions only"));
            }
            other => return Err(unknown(other)),
        };
    }
    Ok(Value::Object(rule))
}

fn read_filter(filter: &Element) -> Result<Value, S3Error> {
    let is_empty =
        |child: &Element| child.name == "Prefix" && child.text.is_empty() && child.children.is_empty();
    match filter.children.iter().all(is_empty) {
        true => Ok(json!({})),
        false => Err(S3Error::InvalidRequest("Rules hold for the whole bucket")),
    }
}

fn read_expiration(expiration: &Element) -> Result<Value, S3Error> {
    let mut fields = Map::new();
    for child in &expiration.children {
        let name = match child.name.as_str() {
            "NoncurrentDays" => "noncurrentDays",
            "NewerNoncurrentVersions" => "newerNoncurrentVersions",
            other => return Err(unknown(other)),
        };
        fields.insert(name.to_owned(), json!(child.text.trim()));
    }
    Ok(Value::Object(fields))
}

fn unknown(name: &str) -> S3Error {
    S3Error::MalformedXml(format!(
        "unknown element {}",
        name.chars().take(100).collect::<String>()
    ))
}
