//! Last stage: what came out of the transaction → status, headers, body. Never queries.

use crate::config::RestConfig;
use crate::error::{RequestError, RestError};
use crate::execute::Outcome;
use crate::plan::{MutatePlan, QueryKind, QueryPlan};
use crate::request::media::MediaType;
use crate::request::preferences::{
    Count, Handling, Missing, Preferences, Representation, Resolution, Transaction,
};
use crate::request::query::encode_into;
use crate::request::{ApiRequest, Mutation};
use actix_web::body::{self, BodySize, MessageBody};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use selvedge_postgres::Chunks;
use serde_json::{Map, Value};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

/// The reference whose behaviour a warning names.
const WARNING_AGENT: &str = "PostgRESTv16.2";

/// Measures the stages, when somebody wants to know.
pub(crate) struct Timing {
    marks: Option<(Instant, String)>,
}

impl Timing {
    /// Starts the clock, or does nothing at all.
    pub(crate) fn start(enabled: bool) -> Self {
        Self {
            marks: enabled.then(|| (Instant::now(), String::new())),
        }
    }

    /// The value of `Server-Timing`.
    pub(crate) fn into_header(self) -> Option<String> {
        self.marks.map(|(_, text)| text)
    }

    /// Ends a stage.
    pub(crate) fn mark(&mut self, stage: &str) {
        if let Some((since, text)) = &mut self.marks {
            if !text.is_empty() {
                text.push_str(", ");
            }
            let duration_ms = since.elapsed().as_secs_f64() * 1000.0;
            text.push_str(&format!("{stage};dur={duration_ms:.1}"));
            *since = Instant::now();
        }
    }
}

/// The answer to OPTIONS.
pub(crate) fn describe(allow: &str, mut timing: Timing) -> HttpResponse {
    let mut builder = HttpResponse::Ok();
    timing.mark("response");
    if let Some(text) = timing.into_header() {
        builder.insert_header((HeaderName::from_static("server-timing"), text));
    }
    builder
        .insert_header((header::ALLOW, allow))
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header((header::VARY, "Accept, Prefer, Range"))
        .finish()
}

/// A response being put together.
struct Draft {
    status: u16,
    headers: Vec<(HeaderName, String)>,
    body: Body,
}

enum Body {
    /// No body and no `Content-Length`.
    None,
    Chunks(Chunks),
}

/// Renders the outcome of a plan.
///
/// # Errors
/// PGRST111 and PGRST112 for response settings that make no sense.
pub(crate) fn respond(
    config: &RestConfig,
    request: &ApiRequest,
    plan: &QueryPlan,
    outcome: Outcome,
    mut timing: Timing,
) -> Result<HttpResponse, RestError> {
    let (status, headers) = (outcome.status.clone(), outcome.headers.clone());
    let mut draft = if matches!(plan.media, MediaType::Plan { .. }) {
        let mut draft = Draft {
            status: 200,
            headers: Vec::new(),
            body: Body::Chunks(outcome.body),
        };
        content_type(&mut draft, request, plan);
        draft
    } else {
        match &plan.kind {
            QueryKind::Read(relation) => read(config, request, plan, &relation.name, outcome),
            QueryKind::Call { headers_only, .. } => call(config, request, plan, *headers_only, outcome),
            QueryKind::Mutate {
                relation,
                mutation,
                plan: mutate,
            } => self::mutate(request, plan, &relation.name.name, *mutation, mutate, outcome),
        }
    };
    override_status(&mut draft, status.as_deref())?;
    override_headers(&mut draft, headers.as_deref())?;
    legacy_warning(config, plan, &mut draft);
    timing.mark("response");
    if let Some(text) = timing.into_header() {
        draft
            .headers
            .push((HeaderName::from_static("server-timing"), text));
    }
    Ok(finish(draft))
}

fn read(
    config: &RestConfig,
    request: &ApiRequest,
    plan: &QueryPlan,
    relation: &str,
    outcome: Outcome,
) -> Draft {
    let mut draft = page(config, request, outcome);
    let mut location = format!("/{relation}");
    if !request.query.canonical.is_empty() {
        location.push('?');
        location.push_str(&request.query.canonical);
    }
    draft.headers.push((header::CONTENT_LOCATION, location));
    if request.is_headers_only() {
        draft.body = Body::None;
    }
    content_type(&mut draft, request, plan);
    applied(&mut draft, request, plan);
    draft
}

fn call(
    config: &RestConfig,
    request: &ApiRequest,
    plan: &QueryPlan,
    headers_only: bool,
    outcome: Outcome,
) -> Draft {
    let mut draft = page(config, request, outcome);
    applied(&mut draft, request, plan);
    if plan.function().is_some_and(|function| function.returns_void()) {
        draft.status = 204;
        draft.body = Body::None;
        return draft;
    }
    content_type(&mut draft, request, plan);
    if headers_only {
        draft.body = Body::None;
    }
    draft
}

/// Status, `Content-Range` and body of rows out of a larger whole.
fn page(config: &RestConfig, request: &ApiRequest, outcome: Outcome) -> Draft {
    let lower = request.range.lower;
    let upper = lower + outcome.page - 1;
    let status = match outcome.total {
        None => 200,
        Some(total) if lower > total => 416,
        Some(total) if outcome.page < total => 206,
        Some(_) => 200,
    };
    let body = if status == 416 {
        let error = crate::error::RestError::Request(RequestError::OffsetBeyond {
            offset: lower,
            total: outcome.total.unwrap_or(0),
        });
        Bytes::from(error.wire().body(config.error_verbosity)).into()
    } else {
        outcome.body
    };
    Draft {
        status,
        headers: vec![content_range(lower, upper, outcome.total)],
        body: Body::Chunks(body),
    }
}

fn content_range(lower: i64, upper: i64, total: Option<i64>) -> (HeaderName, String) {
    let range = if lower <= upper && total != Some(0) {
        format!("{lower}-{upper}")
    } else {
        "*".to_owned()
    };
    let total = total.map_or_else(|| "*".to_owned(), |total| total.to_string());
    (header::CONTENT_RANGE, format!("{range}/{total}"))
}

fn mutate(
    request: &ApiRequest,
    plan: &QueryPlan,
    relation: &str,
    mutation: Mutation,
    mutate: &MutatePlan,
    outcome: Outcome,
) -> Draft {
    let preferences = &request.preferences;
    let shows_rows = preferences.representation == Some(Representation::Full);
    let total = matches!(preferences.count, Some(Count::Exact | Count::Estimated)).then_some(outcome.page);
    let mut draft = Draft {
        status: 204,
        headers: Vec::new(),
        body: Body::None,
    };
    match mutation {
        Mutation::Create => {
            let only_updated = preferences.resolution == Some(Resolution::MergeDuplicates)
                && outcome.inserted.unwrap_or(0) <= 0
                && merges(mutate);
            draft.status = if only_updated { 200 } else { 201 };
            if let Some(key) = outcome.location.as_deref().filter(|key| !key.is_empty()) {
                draft.headers.push((header::LOCATION, location(relation, key)));
            }
            draft.headers.push(content_range(1, 0, total));
            draft.body = Body::Chunks(Chunks::default());
        }
        Mutation::Update => draft.headers.push(content_range(0, outcome.page - 1, total)),
        Mutation::Delete => draft.headers.push(content_range(1, 0, total)),
        Mutation::SingleUpsert => {}
    }
    if shows_rows {
        draft.status = match mutation {
            Mutation::Create => draft.status,
            Mutation::SingleUpsert if outcome.inserted.unwrap_or(0) > 0 => 201,
            _ => 200,
        };
        draft.body = Body::Chunks(outcome.body);
        content_type(&mut draft, request, plan);
    }
    applied(&mut draft, request, plan);
    draft
}

/// Whether the upsert could have met existing rows at all.
fn merges(mutate: &MutatePlan) -> bool {
    match mutate {
        MutatePlan::Insert {
            conflict: Some(conflict),
            ..
        } => conflict.resolution == Resolution::MergeDuplicates,
        _ => false,
    }
}

fn location(relation: &str, key: &[(String, Option<String>)]) -> String {
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

fn content_type(draft: &mut Draft, request: &ApiRequest, plan: &QueryPlan) {
    draft
        .headers
        .push((header::CONTENT_TYPE, plan.media.content_type()));
    if request.names_schema {
        draft
            .headers
            .push((HeaderName::from_static("content-profile"), request.schema.clone()));
    }
}

/// `Preference-Applied`: what took effect, in a fixed order.
fn applied(draft: &mut Draft, request: &ApiRequest, plan: &QueryPlan) {
    let Preferences {
        resolution,
        representation,
        count,
        missing,
        handling,
        transaction,
        timezone,
        max_affected,
        ..
    } = &request.preferences;
    let mutation = match &plan.kind {
        QueryKind::Mutate { mutation, .. } => Some(*mutation),
        _ => None,
    };
    let has_target = match &plan.kind {
        QueryKind::Mutate {
            plan:
                MutatePlan::Insert {
                    conflict: Some(conflict),
                    ..
                },
            ..
        } => !conflict.columns.is_empty(),
        _ => false,
    };
    let limits = matches!(plan.kind, QueryKind::Call { .. })
        || matches!(mutation, Some(Mutation::Update | Mutation::Delete));
    let mut words: Vec<&str> = Vec::new();
    if let Some(resolution) = resolution.filter(|_| mutation == Some(Mutation::Create) && has_target) {
        words.push(match resolution {
            Resolution::MergeDuplicates => "resolution=merge-duplicates",
            Resolution::IgnoreDuplicates => "resolution=ignore-duplicates",
        });
    }
    if let Some(missing) = missing.filter(|_| matches!(mutation, Some(Mutation::Create | Mutation::Update))) {
        words.push(match missing {
            Missing::Default => "missing=default",
            Missing::Null => "missing=null",
        });
    }
    if let Some(representation) = representation.filter(|_| mutation.is_some()) {
        words.push(match representation {
            Representation::Full => "return=representation",
            Representation::Minimal => "return=minimal",
            Representation::HeadersOnly => "return=headers-only",
        });
    }
    if let Some(count) = count {
        words.push(match count {
            Count::Exact => "count=exact",
            Count::Planned => "count=planned",
            Count::Estimated => "count=estimated",
        });
    }
    if let Some(transaction) = transaction {
        words.push(match transaction {
            Transaction::Commit => "tx=commit",
            Transaction::Rollback => "tx=rollback",
        });
    }
    if let Some(handling) = handling {
        words.push(match handling {
            Handling::Strict => "handling=strict",
            Handling::Lenient => "handling=lenient",
        });
    }
    let mut text = words.join(", ");
    let mut push = |word: String| {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&word);
    };
    if let Some(zone) = timezone {
        push(format!("timezone={zone}"));
    }
    if let Some(most) = max_affected.filter(|_| limits && *handling == Some(Handling::Strict)) {
        push(format!("max-affected={most}"));
    }
    if !text.is_empty() {
        draft
            .headers
            .push((HeaderName::from_static("preference-applied"), text));
    }
}

/// `response.status`: its leading digits are the status.
fn override_status(draft: &mut Draft, setting: Option<&str>) -> Result<(), RequestError> {
    let Some(setting) = setting else { return Ok(()) };
    let end = setting
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(setting.len());
    let status = setting[..end].parse().map_err(|_| RequestError::ResponseStatus)?;
    if StatusCode::from_u16(status).is_err() {
        return Err(RequestError::ResponseStatus);
    }
    draft.status = status;
    Ok(())
}

/// `response.headers` replace ours of the same name; repeats among themselves stay.
fn override_headers(draft: &mut Draft, setting: Option<&str>) -> Result<(), RequestError> {
    let Some(setting) = setting else { return Ok(()) };
    let parsed: Vec<Map<String, Value>> =
        serde_json::from_str(setting).map_err(|_| RequestError::ResponseHeaders)?;
    let mut custom = Vec::with_capacity(parsed.len());
    for object in parsed {
        let mut entries = object.into_iter();
        let (Some((name, Value::String(value))), None) = (entries.next(), entries.next()) else {
            return Err(RequestError::ResponseHeaders);
        };
        let name = HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes())
            .map_err(|_| RequestError::ResponseHeaders)?;
        custom.push((name, value));
    }
    draft
        .headers
        .retain(|(name, _)| !custom.iter().any(|(own, _)| own == name));
    draft.headers.extend(custom);
    Ok(())
}

/// Says that a parameter used a target's name although the embed has an alias.
fn legacy_warning(config: &RestConfig, plan: &QueryPlan, draft: &mut Draft) {
    if !config.legacy_target_names {
        return;
    }
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
        draft.headers.push((header::WARNING, text));
    }
}

/// A body that is sent piece by piece: the server copies no more than one at a time, and each is given back when it is
/// sent.
struct Pieces {
    chunks: Chunks,
    length: u64,
}

impl Pieces {
    fn of(chunks: Chunks) -> Self {
        let length = chunks.len() as u64;
        Self { chunks, length }
    }
}

impl MessageBody for Pieces {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.length)
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(self.chunks.next().map(Ok))
    }
}

fn finish(draft: Draft) -> HttpResponse {
    let status = StatusCode::from_u16(draft.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut builder = HttpResponseBuilder::new(status);
    if status.canonical_reason().is_none() {
        builder.reason("");
    }
    let mut has_vary = false;
    for (name, value) in draft.headers {
        has_vary |= name == header::VARY;
        // header values may carry UTF-8, e.g. names of relations
        if let Ok(value) = HeaderValue::from_maybe_shared(Bytes::from(value)) {
            builder.append_header((name, value));
        }
    }
    if !has_vary {
        builder.insert_header((header::VARY, HeaderValue::from_static("Accept, Prefer, Range")));
    }
    match draft.body {
        Body::None => builder.body(body::None::new()).map_into_boxed_body(),
        Body::Chunks(chunks) => builder.body(Pieces::of(chunks)),
    }
}
