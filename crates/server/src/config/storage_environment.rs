//! Settings of the storage service by the names that the original reads from its environment: `STORAGE_S3_BUCKET`,
//! `S3_PROTOCOL_ACCESS_KEY_ID` and their kin. What our own keys say of the store and of credentials wins over them.

use std::time::Duration;

use super::own::{OwnSection, S3Section};
use super::source::{Place, Source};
use super::storage::StorageSection;

/// The variables of one environment; the first of several names that is set and not empty counts.
struct Variables<'a>(&'a Source);

impl<'a> Variables<'a> {
    fn get(&self, names: &[&'static str]) -> Option<(&'static str, &'a str)> {
        names.iter().find_map(|name| {
            let value = self.0.environment().get(name)?.trim();
            (!value.is_empty()).then_some((*name, value))
        })
    }

    fn text(&self, names: &[&'static str]) -> Option<String> {
        self.get(names).map(|(_, value)| value.to_owned())
    }

    fn bool(&self, names: &[&'static str]) -> Option<bool> {
        let (name, value) = self.get(names)?;
        match value {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.ignore(name, "expected true or false");
                None
            }
        }
    }

    fn number(&self, names: &[&'static str]) -> Option<u64> {
        let (name, value) = self.get(names)?;
        let number = value.parse().ok();
        if number.is_none() {
            self.ignore(name, "expected a whole number");
        }
        number
    }

    /// Such names are common enough to mean something else to somebody else: that is no reason not to start.
    fn ignore(&self, name: &str, reason: &str) {
        self.0.warn(&place(name), &format!("{reason}; it has no effect"));
    }

    fn refuse(&self, name: &str, reason: &str) {
        self.0.error(&place(name), reason);
    }
}

fn place(name: &str) -> Place {
    Place {
        offset: usize::MAX,
        name: format!("environment variable {name}"),
    }
}

/// Makes the settings that are there.
pub(super) fn apply(source: &Source, storage: &mut StorageSection, own: &mut OwnSection) {
    let variables = Variables(source);
    if let Some(bytes) = variables.number(&["UPLOAD_FILE_SIZE_LIMIT", "FILE_SIZE_LIMIT"]) {
        storage.file_size_limit_bytes = bytes;
    }
    if let Some(enabled) = variables.bool(&["IMAGE_TRANSFORMATION_ENABLED", "ENABLE_IMAGE_TRANSFORMATION"]) {
        storage.image_transformation = enabled;
    }
    if let Some(enabled) = variables.bool(&["S3_PROTOCOL_ENABLED"]) {
        storage.s3_protocol = enabled;
    }
    let lifetime = [
        "UPLOAD_SIGNED_URL_EXPIRATION_TIME",
        "SIGNED_UPLOAD_URL_EXPIRATION_TIME",
    ];
    if let Some(seconds) = variables.number(&lifetime) {
        storage.signed_upload_url_lifetime = Some(Duration::from_secs(seconds));
    }
    if let Some(milliseconds) = variables.number(&["TUS_URL_EXPIRY_MS"]) {
        storage.resumable_upload_lifetime = Some(Duration::from_millis(milliseconds));
    }
    if variables.bool(&["RATE_LIMITER_ENABLED", "ENABLE_RATE_LIMITER"]) == Some(true)
        && own.limits.render_per_second == 0
    {
        let per_second = variables
            .number(&["RATE_LIMITER_RENDER_PATH_MAX_REQ_SEC"])
            .unwrap_or(5);
        own.limits.render_per_second = u32::try_from(per_second).unwrap_or(u32::MAX);
    }
    let protocol = &mut own.s3_protocol;
    if protocol.access_key_id.is_none() {
        let pair = (
            variables.text(&["S3_PROTOCOL_ACCESS_KEY_ID"]),
            variables.text(&["S3_PROTOCOL_ACCESS_KEY_SECRET"]),
        );
        match pair {
            (Some(id), Some(secret)) => {
                protocol.access_key_id = Some(id);
                protocol.secret_access_key = Some(secret.into());
            }
            (None, None) => {}
            _ => variables.refuse(
                "S3_PROTOCOL_ACCESS_KEY_ID",
                "goes with S3_PROTOCOL_ACCESS_KEY_SECRET; one of them is missing",
            ),
        }
    }
    if own.s3.is_none() {
        own.s3 = store(&variables);
    }
}

/// The store of objects, where `STORAGE_BACKEND` says that it is one.
fn store(variables: &Variables<'_>) -> Option<S3Section> {
    match variables.get(&["STORAGE_BACKEND"])? {
        (_, "s3") => {}
        (_, "file") => return None,
        (name, _) => {
            variables.refuse(name, "expected file or s3");
            return None;
        }
    }
    let needed = |names: &[&'static str]| {
        let value = variables.text(names);
        if value.is_none() {
            variables.refuse(names[0], "is needed with STORAGE_BACKEND=s3");
        }
        value
    };
    let bucket = needed(&["STORAGE_S3_BUCKET", "GLOBAL_S3_BUCKET"]);
    let access_key_id = needed(&["AWS_ACCESS_KEY_ID"]);
    let secret_access_key = needed(&["AWS_SECRET_ACCESS_KEY"]);
    let endpoint = variables.text(&["STORAGE_S3_ENDPOINT", "GLOBAL_S3_ENDPOINT"]);
    let path_style = variables.bool(&["STORAGE_S3_FORCE_PATH_STYLE", "GLOBAL_S3_FORCE_PATH_STYLE"]);
    Some(S3Section {
        bucket: bucket?,
        prefix: String::new(),
        region: variables
            .text(&["STORAGE_S3_REGION", "AWS_REGION", "AWS_DEFAULT_REGION"])
            .unwrap_or_else(|| "us-east-1".to_owned()),
        access_key_id: access_key_id?,
        secret_access_key: secret_access_key?.into(),
        session_token: variables.text(&["AWS_SESSION_TOKEN"]).map(Into::into),
        path_style: path_style.unwrap_or(endpoint.is_some()),
        endpoint,
    })
}
