//! Environment variables of Supabase's storage service: `STORAGE_S3_BUCKET`, `S3_PROTOCOL_ACCESS_KEY_ID` and others.
//!
//! They let a deployment of the original move over without renaming. The object store and the S3 credentials of
//! `[selvedge]` win over them.

use std::time::Duration;

use serde_json::Value;

use super::selvedge::{LimitsSection, S3ProtocolSection, S3Section, SelvedgeSection};
use super::storage::StorageSection;
use crate::reader::source::{Location, Source};

/// Typed reads of variables. If a setting has several names, the first that is set and not empty is used.
struct Variables<'a>(&'a Source);

impl<'a> Variables<'a> {
    fn get(&self, names: &[&'static str]) -> Option<(&'static str, &'a str)> {
        names.iter().find_map(|name| {
            let value = self.0.environment().get(name)?.trim();
            (!value.is_empty()).then_some((*name, value))
        })
    }

    /// Notes that a variable has given the value of a key.
    fn record(&self, key: &str, name: &str, value: impl Into<Value>) {
        let is_secret = key.contains("secret") || key.contains("token");
        self.0.record_variable(key, name, value, is_secret);
    }

    fn text(&self, key: &str, names: &[&'static str]) -> Option<String> {
        let (name, value) = self.get(names)?;
        self.record(key, name, value);
        Some(value.to_owned())
    }

    fn bool(&self, key: &str, names: &[&'static str]) -> Option<bool> {
        let (name, value) = self.get(names)?;
        let Ok(is_true) = value.parse::<bool>() else {
            self.ignore(name, "expected true or false");
            return None;
        };
        self.record(key, name, is_true);
        Some(is_true)
    }

    fn number(&self, key: &str, names: &[&'static str]) -> Option<u64> {
        let (name, value) = self.get(names)?;
        let number = value.parse().ok();
        match number {
            Some(number) => self.record(key, name, number),
            None => self.ignore(name, "expected a whole number"),
        }
        number
    }

    /// A wrong value is only a warning: some of these names are so general that another program on the machine may
    /// use them with another meaning.
    fn ignore(&self, name: &str, reason: &str) {
        let message = format!("{reason}; it has no effect");
        self.0.add_warning(&Location::of_variable(name), &message);
    }

    fn report_error(&self, name: &str, reason: &str) {
        self.0.add_error(&Location::of_variable(name), reason);
    }
}

/// Applies the variables that are set.
pub(crate) fn apply_storage_environment(
    source: &Source,
    storage: &mut StorageSection,
    selvedge: &mut SelvedgeSection,
) {
    let variables = Variables(source);
    apply_limits(&variables, storage, &mut selvedge.limits);
    if let Some(enabled) = variables.bool(
        "storage.image_transformation.enabled",
        &["IMAGE_TRANSFORMATION_ENABLED", "ENABLE_IMAGE_TRANSFORMATION"],
    ) {
        storage.image_transformation = enabled;
    }
    if let Some(enabled) = variables.bool("storage.s3_protocol.enabled", &["S3_PROTOCOL_ENABLED"]) {
        storage.s3_protocol = enabled;
    }
    if selvedge.s3_protocol.access_key_id.is_none() {
        apply_s3_credentials(&variables, &mut selvedge.s3_protocol);
    }
    if selvedge.s3.is_none() {
        selvedge.s3 = read_s3_backend(&variables);
    }
}

fn apply_limits(variables: &Variables<'_>, storage: &mut StorageSection, limits: &mut LimitsSection) {
    if let Some(bytes) = variables.number(
        "storage.file_size_limit",
        &["UPLOAD_FILE_SIZE_LIMIT", "FILE_SIZE_LIMIT"],
    ) {
        storage.file_size_limit_bytes = bytes;
    }
    let lifetime = [
        "UPLOAD_SIGNED_URL_EXPIRATION_TIME",
        "SIGNED_UPLOAD_URL_EXPIRATION_TIME",
    ];
    if let Some(seconds) = variables.number("storage.signed_upload_url_lifetime_s", &lifetime) {
        storage.signed_upload_url_lifetime = Some(Duration::from_secs(seconds));
    }
    if let Some(milliseconds) =
        variables.number("storage.resumable_upload_lifetime_ms", &["TUS_URL_EXPIRY_MS"])
    {
        storage.resumable_upload_lifetime = Some(Duration::from_millis(milliseconds));
    }
    let is_rate_limited = variables.bool(
        "storage.rate_limiter_enabled",
        &["RATE_LIMITER_ENABLED", "ENABLE_RATE_LIMITER"],
    ) == Some(true);
    if is_rate_limited && limits.render_per_second == 0 {
        let per_second = variables
            .number(
                "selvedge.limits.render_per_second",
                &["RATE_LIMITER_RENDER_PATH_MAX_REQ_SEC"],
            )
            .unwrap_or(5);
        limits.render_per_second = u32::try_from(per_second).unwrap_or(u32::MAX);
    }
}

fn apply_s3_credentials(variables: &Variables<'_>, protocol: &mut S3ProtocolSection) {
    let pair = (
        variables.text(
            "selvedge.s3_protocol.access_key_id",
            &["S3_PROTOCOL_ACCESS_KEY_ID"],
        ),
        variables.text(
            "selvedge.s3_protocol.secret_access_key",
            &["S3_PROTOCOL_ACCESS_KEY_SECRET"],
        ),
    );
    match pair {
        (Some(id), Some(secret)) => {
            protocol.access_key_id = Some(id);
            protocol.secret_access_key = Some(secret.into());
        }
        (None, None) => {}
        _ => variables.report_error(
            "S3_PROTOCOL_ACCESS_KEY_ID",
            "goes with S3_PROTOCOL_ACCESS_KEY_SECRET; one of them is missing",
        ),
    }
}

/// The S3 backend, when `STORAGE_BACKEND` is `s3`.
fn read_s3_backend(variables: &Variables<'_>) -> Option<S3Section> {
    match variables.get(&["STORAGE_BACKEND"])? {
        (_, "s3") => {}
        (_, "file") => return None,
        (name, _) => {
            variables.report_error(name, "expected file or s3");
            return None;
        }
    }
    let needed = |key: &str, names: &[&'static str]| {
        let value = variables.text(key, names);
        if value.is_none() {
            variables.report_error(names[0], "is needed with STORAGE_BACKEND=s3");
        }
        value
    };
    let bucket = needed("selvedge.s3.bucket", &["STORAGE_S3_BUCKET", "GLOBAL_S3_BUCKET"]);
    let access_key_id = needed("selvedge.s3.access_key_id", &["AWS_ACCESS_KEY_ID"]);
    let secret_access_key = needed("selvedge.s3.secret_access_key", &["AWS_SECRET_ACCESS_KEY"]);
    let endpoint = variables.text(
        "selvedge.s3.endpoint",
        &["STORAGE_S3_ENDPOINT", "GLOBAL_S3_ENDPOINT"],
    );
    let path_style = variables.bool(
        "selvedge.s3.path_style",
        &["STORAGE_S3_FORCE_PATH_STYLE", "GLOBAL_S3_FORCE_PATH_STYLE"],
    );
    Some(S3Section {
        bucket: bucket?,
        prefix: String::new(),
        region: variables
            .text(
                "selvedge.s3.region",
                &["STORAGE_S3_REGION", "AWS_REGION", "AWS_DEFAULT_REGION"],
            )
            .unwrap_or_else(|| "us-east-1".to_owned()),
        access_key_id: access_key_id?,
        secret_access_key: secret_access_key?.into(),
        session_token: variables
            .text("selvedge.s3.session_token", &["AWS_SESSION_TOKEN"])
            .map(Into::into),
        path_style: path_style.unwrap_or(endpoint.is_some()),
        endpoint,
    })
}
