//! Status and headers that SQL chose, by the settings `response.status` and `response.headers`.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderName;
use serde_json::{Map, Value};

use super::draft::Draft;
use crate::error::RequestError;

/// Applies `response.status`: its leading digits are the status.
///
/// # Errors
/// PGRST112.
pub(super) fn override_status(draft: &mut Draft, setting: Option<&str>) -> Result<(), RequestError> {
    let Some(setting) = setting else { return Ok(()) };
    // Compat: PostgREST reads a number and ignores what follows it.
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

/// Applies `response.headers`, `[{"name": "value"}, …]`: they replace ours of the same name, and repeats among themselves
/// stay.
///
/// # Errors
/// PGRST111.
pub(super) fn override_headers(draft: &mut Draft, setting: Option<&str>) -> Result<(), RequestError> {
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
        custom.push((name, value.into()));
    }
    // A function may replace `Content-Type` and its like; two of them would contradict each other.
    draft
        .headers
        .retain(|(name, _)| !custom.iter().any(|(own, _)| own == name));
    draft.headers.extend(custom);
    Ok(())
}
