//! Files and URLs that the options of `add` and `update` name. Compat: messages are those of the Supabase CLI.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use hyper::header::ACCEPT;
use selvedge_http_client::{Call, HttpClient};
use serde_json::{Map, Value};
use url::Url;

use crate::cli::ProviderSettingsArgs;

/// The members of the request that the options set.
///
/// # Errors
/// A file that cannot be read or is not what it should be; a URL that has no metadata.
pub(super) async fn read_settings(args: &ProviderSettingsArgs) -> Result<Map<String, Value>> {
    let mut settings = Map::new();
    let mut set = |name: &str, value: Value| settings.insert(name.to_owned(), value);
    if let Some(path) = &args.metadata_file {
        set("metadata_xml", read_metadata_file(path)?.into());
    } else if let Some(url) = &args.metadata_url {
        if !args.skip_url_validation {
            check_metadata_url(url)
                .await
                .map_err(|error| anyhow!("{error:#}. Use --skip-url-validation to suppress this error"))?;
        }
        set("metadata_url", url.as_str().into());
    }
    if let Some(path) = &args.attribute_mapping_file {
        set("attribute_mapping", read_mapping_file(path)?);
    }
    if let Some(format) = &args.name_id_format {
        set("name_id_format", format.as_str().into());
    }
    Ok(settings)
}

fn read_metadata_file(path: &Path) -> Result<String> {
    let bytes =
        fs::read(path).with_context(|| format!("failed to open metadata file: {}", path.display()))?;
    check_encoding(bytes, &path.display().to_string())
}

fn check_encoding(bytes: Vec<u8>, source: &str) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| anyhow!("SAML Metadata XML at {source:?} is not UTF-8 encoded"))
}

fn read_mapping_file(path: &Path) -> Result<Value> {
    let bytes =
        fs::read(path).with_context(|| format!("failed to open attribute mapping: {}", path.display()))?;
    let mapping: Value = serde_json::from_slice(&bytes).context("failed to parse attribute mapping")?;
    if !mapping.is_object() {
        bail!("failed to parse attribute mapping: it is not a JSON object");
    }
    Ok(mapping)
}

/// Fetches the metadata once, so that a wrong URL is reported here and not only at a sign-in.
async fn check_metadata_url(url: &str) -> Result<()> {
    let parsed = Url::parse(url).context("failed to parse metadata uri")?;
    if parsed.scheme() != "https" {
        bail!("only HTTPS Metadata URLs are supported");
    }
    // Redirects are not followed, since they could lead from https to an address in the own network.
    let call = Call::get(url).header(ACCEPT, "application/xml");
    let response = HttpClient::new(true).send(call).await?;
    if response.status != 200 {
        bail!("Error status {}", response.status);
    }
    check_encoding(response.body.to_vec(), url)?;
    Ok(())
}
