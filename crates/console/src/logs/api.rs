//! `GET /api/logs` and `GET /api/logs/{request_id}`.

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};

use super::entry::{Entry, time_text};
use super::filter::{Filter, FilterQuery};
use crate::error::ConsoleError;
use crate::state::ConsoleState;

const MOST_ENTRIES: usize = 1000;
/// The histogram has at most this many bars.
const MAX_BARS: i64 = 60;
/// The widths that a bar may have in seconds; the smallest one is used with which [`MAX_BARS`] suffice.
const BAR_WIDTHS: [i64; 11] = [1, 2, 5, 10, 30, 60, 300, 900, 3600, 10_800, 86_400];

/// `GET /api/logs`: the newest entries that match, and how many match over time.
pub(super) async fn list(
    state: web::Data<ConsoleState>,
    query: web::Query<FilterQuery>,
) -> Result<HttpResponse, ConsoleError> {
    let filter = Filter::parse(&query)?;
    let limit = query.limit.unwrap_or(100).clamp(1, MOST_ENTRIES);
    let before = query.before.unwrap_or(u64::MAX);
    // Tens of thousands of entries are looked through, so other requests of this thread must not wait for it.
    let body = web::block(move || {
        let blocks = state.log.requests.snapshot();
        let matching = || {
            let entries = blocks.iter().rev().flat_map(|block| block.iter().rev());
            entries.filter(|entry| filter.matches(entry))
        };
        let found: Vec<&Entry> = matching()
            .filter(|entry| entry.number < before)
            .take(limit + 1)
            .collect();
        let has_more = found.len() > limit;
        let shown = &found[..found.len().min(limit)];
        let next = shown.last().filter(|_| has_more);
        json!({
            "entries": shown.iter().map(|entry| entry.to_json()).collect::<Vec<_>>(),
            "next": next.map(|entry| entry.number.to_string()),
            "histogram": count_by_time(matching),
        })
    })
    .await
    .map_err(|_| ConsoleError::unavailable("The server is stopping"))?;
    Ok(HttpResponse::Ok().json(body))
}

/// Counts the matching entries per bar over the whole time that the log covers.
fn count_by_time<'a, I: Iterator<Item = &'a Entry>>(matching: impl Fn() -> I) -> Vec<Value> {
    let times = || matching().map(|entry| entry.time_ms / 1000);
    let (Some(first), Some(last)) = (times().min(), times().max()) else {
        return Vec::new();
    };
    let fits = |step: &&i64| (last - first) / **step < MAX_BARS;
    let step = BAR_WIDTHS.iter().find(fits).copied().unwrap_or(86_400 * 7);
    // Bars begin at whole steps, so that they do not jump while new entries come in.
    let start = first - first.rem_euclid(step);
    let count = usize::try_from((last - start) / step + 1).unwrap_or(1);
    let mut bars = vec![[0_u64; 3]; count];
    for entry in matching() {
        let class = match entry.status {
            500.. => 2,
            400..500 => 1,
            _ => 0,
        };
        let index = usize::try_from((entry.time_ms / 1000 - start) / step).unwrap_or(0);
        if let Some(bar) = bars.get_mut(index) {
            bar[class] += 1;
        }
    }
    let bar = |(index, [ok, client_error, server_error]): (usize, [u64; 3])| {
        let from = start + step * i64::try_from(index).unwrap_or(0);
        json!({
            "from": time_text(from * 1000),
            "step_s": step,
            "ok": ok,
            "client_error": client_error,
            "server_error": server_error,
        })
    };
    bars.into_iter().enumerate().map(bar).collect()
}

/// `GET /api/logs/{request_id}`
pub(super) async fn show(
    state: web::Data<ConsoleState>,
    request_id: web::Path<String>,
) -> Result<HttpResponse, ConsoleError> {
    let request_id = request_id.into_inner();
    let blocks = state.log.requests.snapshot();
    let mut entries = blocks.iter().rev().flat_map(|block| block.iter().rev());
    let entry = entries
        .find(|entry| entry.request_id() == request_id)
        .ok_or_else(|| {
            ConsoleError::not_found("This request is not in the log of this node any more")
                .with_hint("The log holds the latest 32 MB, and starts anew with the server")
        })?;
    let statements = state.log.statements.of_request(&request_id);
    Ok(HttpResponse::Ok().json(json!({
        "entry": entry.to_json(),
        "claims": entry.claims(),
        "lines": state.log.lines.of_request(&request_id),
        "kept": statements.is_some(),
        "statements": statements.unwrap_or_default(),
    })))
}
