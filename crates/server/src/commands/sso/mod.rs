//! `selvedge sso`: the SAML identity providers of a running server. Compat: words, output and messages are those of the
//! Supabase CLI, which calls the management API instead.

mod admin_api;
mod metadata_source;
mod render;

use anyhow::{Context, Result, bail};
use hyper::Method;
use selvedge_config::Config;
use selvedge_http_client::CallResponse;
use selvedge_saml::parse_service_addresses;
use selvedge_terminal::{OutputFormat, Values, print_values};
use serde_json::{Value, json};
use uuid::Uuid;

use self::admin_api::AdminApi;
use self::metadata_source::read_settings;
use crate::cli::{AddProviderArgs, SsoAction, SsoArgs, UpdateProviderArgs};

/// Runs `selvedge sso`.
///
/// # Errors
/// The server's error, or that it does not respond.
pub(super) async fn run(config: Config, args: &SsoArgs) -> Result<()> {
    let api = AdminApi::find(config, args)?;
    let format = args.output;
    match &args.action {
        SsoAction::Add(args) => print_provider(&add_provider(&api, args).await?, format),
        SsoAction::Remove(args) => print_provider(&remove_provider(&api, args.id).await?, format),
        SsoAction::Update(args) => print_provider(&update_provider(&api, args).await?, format),
        SsoAction::Show(args) => {
            let provider = fetch_provider(&api, args.provider.id).await?;
            if args.metadata {
                anstream::println!(
                    "{}",
                    provider["saml"]["metadata_xml"].as_str().unwrap_or_default()
                );
                return Ok(());
            }
            refuse_env(format)?;
            print_provider(&provider, format);
        }
        SsoAction::List => list_providers(&api, format).await?,
        SsoAction::Info => print_service_addresses(&api, format).await?,
    }
    Ok(())
}

async fn add_provider(api: &AdminApi, args: &AddProviderArgs) -> Result<Value> {
    let mut body = read_settings(&args.settings).await?;
    body.insert("type".to_owned(), "saml".into());
    if !args.domains.is_empty() {
        body.insert("domains".to_owned(), json!(args.domains));
    }
    let response = api
        .call_providers(Method::POST, "", Some(&Value::Object(body)))
        .await
        .context("failed to create sso provider")?;
    read_provider(&response, 201, "Unexpected error adding identity provider")
}

async fn remove_provider(api: &AdminApi, id: Uuid) -> Result<Value> {
    let response = api
        .call_providers(Method::DELETE, &format!("/{id}"), None)
        .await
        .context("failed to remove sso provider")?;
    check_found(&response, id)?;
    read_provider(&response, 200, "Unexpected error removing identity provider")
}

async fn fetch_provider(api: &AdminApi, id: Uuid) -> Result<Value> {
    let response = api
        .call_providers(Method::GET, &format!("/{id}"), None)
        .await
        .context("failed to get sso provider")?;
    check_found(&response, id)?;
    read_provider(&response, 200, "Unexpected error fetching identity provider")
}

async fn update_provider(api: &AdminApi, args: &UpdateProviderArgs) -> Result<Value> {
    let id = args.provider.id;
    let known = fetch_provider(api, id).await?;
    let mut body = read_settings(&args.settings).await?;
    if let Some(domains) = choose_domains(args, &known) {
        body.insert("domains".to_owned(), json!(domains));
    }
    let response = api
        .call_providers(Method::PUT, &format!("/{id}"), Some(&Value::Object(body)))
        .await
        .context("failed to update sso provider")?;
    read_provider(&response, 200, "unexpected error updating identity provider")
}

/// The domains after the update; `None` when they stay as they are.
fn choose_domains(args: &UpdateProviderArgs, known: &Value) -> Option<Vec<String>> {
    if !args.domains.is_empty() {
        return Some(args.domains.clone());
    }
    if args.add_domains.is_empty() && args.remove_domains.is_empty() {
        return None;
    }
    let mut domains: Vec<String> = render::list_domains(known)
        .map(str::to_owned)
        .filter(|domain| !args.remove_domains.contains(domain))
        .collect();
    // A domain that the provider has already would be refused as a duplicate.
    for added in &args.add_domains {
        if !domains.contains(added) {
            domains.push(added.clone());
        }
    }
    Some(domains)
}

async fn list_providers(api: &AdminApi, format: OutputFormat) -> Result<()> {
    refuse_env(format)?;
    let response = api
        .call_providers(Method::GET, "", None)
        .await
        .context("failed to list sso providers")?;
    let list = read_provider(&response, 200, "unexpected error listing identity providers")?;
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    match format {
        OutputFormat::Json => print_json(&json!({ "providers": items })),
        _ => anstream::print!("{}", render::render_list(items)),
    }
    Ok(())
}

/// `sso info`: prints what the administrator of an identity provider must enter there. The server is queried, because only
/// its configuration contains its public URL.
async fn print_service_addresses(api: &AdminApi, format: OutputFormat) -> Result<()> {
    let response = api
        .fetch_service_metadata()
        .await
        .context("failed to get the metadata of the server")?;
    if response.status == 404 {
        bail!(
            "SAML 2.0 support is not enabled for this project. Please enable it in config.toml:  [auth.saml] enabled = true"
        );
    }
    if response.status != 200 {
        bail!(
            "unexpected error getting the metadata of the server: {}",
            body_text(&response)
        );
    }
    let addresses = parse_service_addresses(&response.body)?;
    // Compat: the CLI names the URL of the project, from which users are sent on to the site.
    let relay_state = addresses.entity_id.split("/auth/v1/").next().unwrap_or_default();
    let rows = [
        ("acs_url", addresses.acs_url.as_str()),
        ("entity_id", addresses.entity_id.as_str()),
        ("relay_state", relay_state),
    ];
    if format == OutputFormat::Pretty {
        anstream::print!(
            "{}",
            render::render_service_addresses(rows.map(|(_, value)| value))
        );
        return Ok(());
    }
    let named = |(name, value): (&'static str, &str)| match format {
        OutputFormat::Env => (name.to_uppercase().into(), value.to_owned()),
        _ => (name.into(), value.to_owned()),
    };
    print_values(&rows.into_iter().map(named).collect::<Values>(), format);
    Ok(())
}

fn check_found(response: &CallResponse, id: Uuid) -> Result<()> {
    if response.status == 404 {
        bail!("An identity provider with ID \"{id}\" could not be found.");
    }
    Ok(())
}

/// The JSON body of a response with the expected status.
fn read_provider(response: &CallResponse, expected: u16, failure: &str) -> Result<Value> {
    if response.status != expected {
        bail!("{failure}: {}", body_text(response));
    }
    serde_json::from_slice(&response.body).with_context(|| failure.to_owned())
}

fn body_text(response: &CallResponse) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

/// Compat: nested values have no `NAME="value"` form.
fn refuse_env(format: OutputFormat) -> Result<()> {
    if format == OutputFormat::Env {
        bail!("--output env flag is not supported");
    }
    Ok(())
}

/// Compat: with `-o env` the commands that change something print nothing.
fn print_provider(provider: &Value, format: OutputFormat) {
    match format {
        OutputFormat::Pretty => anstream::print!("{}", render::render_provider(provider)),
        OutputFormat::Json => print_json(provider),
        OutputFormat::Env => {}
    }
}

fn print_json(value: &Value) {
    anstream::println!("{}", serde_json::to_string_pretty(value).unwrap_or_default());
}
