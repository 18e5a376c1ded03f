//! Arguments of `selvedge sso`. Compat: names and help texts are those of the Supabase CLI; in place of `--project-ref`
//! there are the project folder, or `--url` with a key.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use selvedge_terminal::OutputFormat;
use uuid::Uuid;

/// Kinds of names that an identity provider may use for users.
const NAME_ID_FORMATS: [&str; 4] = [
    "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
    "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified",
    "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
];

#[derive(Debug, Args)]
pub struct SsoArgs {
    #[command(subcommand)]
    pub action: SsoAction,
    /// URL of the API [default: that of the project's running instance]
    #[arg(long, value_name = "URL", global = true)]
    pub url: Option<String>,
    /// Secret key or service_role key for --url [env: SUPABASE_AUTH_SECRET_KEY, SUPABASE_AUTH_SERVICE_ROLE_KEY]
    #[arg(long, value_name = "KEY", global = true)]
    pub service_key: Option<String>,
    /// How to print
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Pretty, global = true)]
    pub output: OutputFormat,
}

#[derive(Debug, Subcommand)]
pub enum SsoAction {
    /// Add a new SSO identity provider
    Add(AddProviderArgs),
    /// Remove an existing SSO identity provider
    Remove(ProviderArgs),
    /// Update information about an SSO identity provider
    Update(UpdateProviderArgs),
    /// Show information about an SSO identity provider
    Show(ShowProviderArgs),
    /// List all SSO identity providers for a project
    List,
    /// Returns the SAML SSO settings required for the identity provider
    Info,
}

/// Protocols of identity providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProviderType {
    /// SAML 2.0
    Saml,
}

#[derive(Debug, Args)]
pub struct AddProviderArgs {
    /// Type of identity provider (according to supported protocol)
    #[arg(short = 't', long = "type", value_enum)]
    pub provider_type: ProviderType,
    /// Comma separated list of email domains to associate with the added identity provider
    #[arg(long, value_delimiter = ',')]
    pub domains: Vec<String>,
    #[command(flatten)]
    pub settings: ProviderSettingsArgs,
}

/// Options that `add` and `update` have in common.
#[derive(Debug, Args)]
pub struct ProviderSettingsArgs {
    /// File containing a SAML 2.0 Metadata XML document describing the identity provider
    #[arg(long, value_name = "FILE")]
    pub metadata_file: Option<PathBuf>,
    /// URL pointing to a SAML 2.0 Metadata XML document describing the identity provider
    #[arg(long, value_name = "URL", conflicts_with = "metadata_file")]
    pub metadata_url: Option<String>,
    /// Whether local validation of the SAML 2.0 Metadata URL should not be performed
    #[arg(long)]
    pub skip_url_validation: bool,
    /// File containing a JSON mapping between SAML attributes to custom JWT claims
    #[arg(long, value_name = "FILE")]
    pub attribute_mapping_file: Option<PathBuf>,
    /// URI reference representing the classification of string-based identifier information
    #[arg(long, value_name = "URI", value_parser = PossibleValuesParser::new(NAME_ID_FORMATS))]
    pub name_id_format: Option<String>,
}

#[derive(Debug, Args)]
pub struct ProviderArgs {
    /// The provider's ID
    #[arg(value_name = "PROVIDER_ID", value_parser = parse_provider_id)]
    pub id: Uuid,
}

#[derive(Debug, Args)]
pub struct UpdateProviderArgs {
    #[command(flatten)]
    pub provider: ProviderArgs,
    /// Replace domains with this comma separated list of email domains
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["add_domains", "remove_domains"])]
    pub domains: Vec<String>,
    /// Add this comma separated list of email domains to the identity provider
    #[arg(long, value_delimiter = ',')]
    pub add_domains: Vec<String>,
    /// Remove this comma separated list of email domains from the identity provider
    #[arg(long, value_delimiter = ',')]
    pub remove_domains: Vec<String>,
    #[command(flatten)]
    pub settings: ProviderSettingsArgs,
}

#[derive(Debug, Args)]
pub struct ShowProviderArgs {
    #[command(flatten)]
    pub provider: ProviderArgs,
    /// Show SAML 2.0 XML Metadata only
    #[arg(long)]
    pub metadata: bool,
}

/// The argument must be an ID, so that no other path of the API can be called by it.
fn parse_provider_id(text: &str) -> Result<Uuid, String> {
    text.parse()
        .map_err(|_| format!("identity provider ID {text:?} is not a UUID"))
}
