//! Status, headers and body, by what the statement did.

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderName};
use bytes::Bytes;
use selvedge_postgres::ByteChunks;

use super::draft::{Body, Draft};
use super::overrides::{override_headers, override_status};
use super::preference_applied::applied_preferences;
use super::timing::Timing;
use crate::config::ErrorVerbosity;
use crate::error::{RequestError, RestError};
use crate::execute::Outcome;
use crate::plan::{MutatePlan, QueryKind, QueryPlan};
use crate::request::Mutation;
use crate::request::preferences::{Count, Representation, Resolution};
use crate::request::query::encode_into;

/// The version of PostgREST that deprecation warnings name.
const WARNING_AGENT: &str = "PostgRESTv16.2";

const CONTENT_PROFILE: HeaderName = HeaderName::from_static("content-profile");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// The response to OPTIONS.
pub(crate) fn render_allow(allow: &str, mut timing: Timing) -> HttpResponse {
    let mut builder = HttpResponse::Ok();
    timing.end_stage("response");
    if let Some(text) = timing.into_header() {
        builder.insert_header((SERVER_TIMING, text));
    }
    builder
        .insert_header((header::ALLOW, allow))
        // Compat: PostgREST sends the header on every OPTIONS, not only on preflights.
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header((header::VARY, "Accept, Prefer, Range"))
        .finish()
}

/// Renders the outcome of a plan; `verbosity` is for a 416, whose body is an error.
///
/// # Errors
/// PGRST111 and PGRST112 for response settings that make no sense.
pub(crate) fn render_outcome(
    plan: &QueryPlan,
    mut outcome: Outcome,
    verbosity: ErrorVerbosity,
    mut timing: Timing,
) -> Result<HttpResponse, RestError> {
    let (status, headers) = (outcome.status.take(), outcome.headers.take());
    let mut draft = if plan.is_explain() {
        let mut draft = Draft::new(200, Body::Chunks(outcome.body));
        push_content_type(&mut draft, plan);
        draft
    } else {
        match &plan.kind {
            QueryKind::Read(relation) => {
                let location = content_location(&relation.name.name, &plan.response.canonical_query);
                render_read(plan, outcome, location, verbosity)
            }
            QueryKind::Call(_) => render_call(plan, outcome, verbosity),
            QueryKind::Mutate { .. } => render_mutation(plan, outcome),
        }
    };
    // Settings that SQL has made override the status and headers chosen above.
    override_status(&mut draft, status.as_deref())?;
    let may_lack_length = plan.response.headers_only || matches!(draft.status, 100..=199 | 204 | 304);
    if matches!(draft.body, Body::None) && !may_lack_length {
        // Without a length the client would wait for a body until the connection ends.
        draft.body = Body::Chunks(ByteChunks::default());
    }
    override_headers(&mut draft, headers.as_deref())?;
    push_legacy_warning(&mut draft, plan);
    timing.end_stage("response");
    if let Some(text) = timing.into_header() {
        draft.push_header(SERVER_TIMING, text);
    }
    Ok(draft.into_response())
}

/// The response to a read: a page of a relation's rows.
fn render_read(plan: &QueryPlan, outcome: Outcome, location: String, verbosity: ErrorVerbosity) -> Draft {
    let mut draft = render_page(plan, outcome, verbosity);
    // Node refuses answers with more than 16 kB of headers, which a filter of some hundred ids would make of this one.
    if location.len() <= MOST_LOCATION_BYTES {
        draft.push_header(header::CONTENT_LOCATION, location);
    }
    if plan.response.headers_only {
        draft.body = Body::None;
    }
    push_content_type(&mut draft, plan);
    push_applied_preferences(&mut draft, plan);
    draft
}

/// The response to a function call.
fn render_call(plan: &QueryPlan, outcome: Outcome, verbosity: ErrorVerbosity) -> Draft {
    let mut draft = render_page(plan, outcome, verbosity);
    push_applied_preferences(&mut draft, plan);
    // An empty response has no Content-Type.
    if plan.function().is_some_and(|function| function.returns_void()) {
        draft.status = 204;
        draft.body = Body::None;
        return draft;
    }
    push_content_type(&mut draft, plan);
    if plan.response.headers_only {
        draft.body = Body::None;
    }
    draft
}

/// Status, `Content-Range` and body of a page of rows.
fn render_page(plan: &QueryPlan, outcome: Outcome, verbosity: ErrorVerbosity) -> Draft {
    let lower = plan.response.first_row;
    let upper = lower + outcome.page_rows - 1;
    let status = match outcome.total {
        // Compat: an offset equal to the total is an empty page, one beyond it an error.
        Some(total) if lower > total => 416,
        Some(total) if outcome.page_rows < total => 206,
        _ => 200,
    };
    let body = if status == 416 {
        let error = RestError::from(RequestError::OffsetBeyond {
            offset: lower,
            total: outcome.total.unwrap_or(0),
        });
        Bytes::from(error.wire().body(verbosity)).into()
    } else {
        outcome.body
    };
    let mut draft = Draft::new(status, Body::Chunks(body));
    push_content_range(&mut draft, lower, upper, outcome.total);
    draft
}

/// `Content-Range: lower-upper/total`, with `*` for an empty range and for an unknown total.
fn push_content_range(draft: &mut Draft, lower: i64, upper: i64, total: Option<i64>) {
    let range = if lower <= upper && total != Some(0) {
        format!("{lower}-{upper}")
    } else {
        "*".to_owned()
    };
    let value = match total {
        Some(total) => format!("{range}/{total}"),
        None => range + "/*",
    };
    draft.push_header(header::CONTENT_RANGE, value);
}

/// A write: with its rows, or without a body.
fn render_mutation(plan: &QueryPlan, outcome: Outcome) -> Draft {
    let QueryKind::Mutate {
        relation,
        mutation,
        plan: mutate,
    } = &plan.kind
    else {
        unreachable!("called for writes only")
    };
    let preferences = &plan.response.preferences;
    let rows = outcome.page_rows;
    let total = matches!(preferences.count, Some(Count::Exact | Count::Estimated)).then_some(rows);
    let has_inserted = outcome.inserted.unwrap_or(0) > 0;
    let mut draft = Draft::new(204, Body::None);
    match mutation {
        Mutation::Create => {
            // An upsert that met existing rows only has created nothing.
            let only_updated = !has_inserted && is_merge(mutate);
            draft.status = if only_updated { 200 } else { 201 };
            if let Some(key) = outcome.location.as_deref().filter(|key| !key.is_empty()) {
                draft.push_header(header::LOCATION, row_location(&relation.name.name, key));
            }
            push_content_range(&mut draft, 1, 0, total);
            draft.body = Body::Chunks(ByteChunks::default());
        }
        // Compat: an update sends `Content-Range` with the range of its rows, other writes do not.
        Mutation::Update => push_content_range(&mut draft, 0, rows - 1, total),
        Mutation::Delete => push_content_range(&mut draft, 1, 0, total),
        Mutation::SingleUpsert => {}
    }
    if preferences.representation == Some(Representation::Full) {
        draft.status = match mutation {
            Mutation::Create => draft.status,
            Mutation::SingleUpsert if has_inserted => 201,
            _ => 200,
        };
        draft.body = Body::Chunks(outcome.body);
        push_content_type(&mut draft, plan);
    }
    push_applied_preferences(&mut draft, plan);
    draft
}

/// Whether an INSERT updates existing rows with the same key.
fn is_merge(mutate: &MutatePlan) -> bool {
    matches!(
        mutate,
        MutatePlan::Insert { conflict: Some(conflict), .. }
            if conflict.resolution == Resolution::MergeDuplicates
    )
}

/// A longer `Content-Location` is left out.
const MOST_LOCATION_BYTES: usize = 8 * 1024;

/// `Content-Location` of a read: its path, with the parameters sorted.
fn content_location(relation: &str, canonical_query: &str) -> String {
    let mut location = String::with_capacity(relation.len() + canonical_query.len() + 2);
    location.push('/');
    location.push_str(relation);
    if !canonical_query.is_empty() {
        location.push('?');
        location.push_str(canonical_query);
    }
    location
}

/// `Location` of a row: a read that finds it by its primary key.
fn row_location(relation: &str, key: &[(String, Option<String>)]) -> String {
    let mut location = String::from("/");
    location.push_str(relation);
    for (index, (name, value)) in key.iter().enumerate() {
        location.push(if index == 0 { '?' } else { '&' });
        encode_into(&mut location, name);
        location.push('=');
        match value {
            Some(value) => encode_into(&mut location, &format!("eq.{value}")),
            None => location.push_str("is.null"),
        }
    }
    location
}

/// `Content-Type`, and `Content-Profile` where several schemas are exposed.
fn push_content_type(draft: &mut Draft, plan: &QueryPlan) {
    draft.push_header(header::CONTENT_TYPE, plan.media.content_type());
    if plan.response.names_schema {
        draft.push_header(CONTENT_PROFILE, plan.session.schema.clone());
    }
}

/// `Preference-Applied`, unless no preference took effect.
fn push_applied_preferences(draft: &mut Draft, plan: &QueryPlan) {
    let applied = applied_preferences(plan);
    if !applied.is_empty() {
        draft.push_header(PREFERENCE_APPLIED, applied);
    }
}

/// Warns about parameters that used a target's name although the embed has an alias. Compat: the text is PostgREST's.
fn push_legacy_warning(draft: &mut Draft, plan: &QueryPlan) {
    let mut changes: Vec<String> = Vec::new();
    plan.read.walk(&mut |node| {
        if node.legacy_name_used {
            changes.push(format!("`{}` to `{}`", node.target, node.client_name()));
        }
    });
    if !changes.is_empty() {
        let text = format!(
            "299 {WARNING_AGENT} \"Embedded resource was referenced by relation name even though it has an alias. This is \
             deprecated and will stop working in a future release. Update {} in query string filters, orders or limits.\"",
            changes.join(", ")
        );
        draft.push_header(header::WARNING, text);
    }
}
