//! Arguments of `selvedge gen`, named as those of the Supabase CLI.

use clap::{Args, Subcommand, ValueEnum};

use super::TargetArgs;

#[derive(Debug, Args)]
pub struct GenArgs {
    #[command(subcommand)]
    pub what: GenCommand,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Subcommand)]
pub enum GenCommand {
    /// Print types of the database for clients, as the Supabase CLI prints them
    #[command(visible_alias = "type")]
    Types(TypesArgs),
}

#[derive(Debug, Args)]
pub struct TypesArgs {
    /// The language, as older versions of the Supabase CLI take it
    #[arg(value_enum, value_name = "LANGUAGE", hide = true, conflicts_with = "lang")]
    pub language: Option<Language>,
    /// The language
    #[arg(long, value_enum, default_value_t = Language::Typescript)]
    pub lang: Language,
    /// Only these schemas [default: public and those of api.schemas]
    #[arg(short, long, value_name = "NAME", value_delimiter = ',')]
    pub schema: Vec<String>,
    /// Leave out which relationships are one-to-one, for PostgREST 9 and older
    #[arg(long)]
    pub postgrest_v9_compat: bool,
    /// Access level of the generated Swift declarations
    #[arg(long, value_enum, value_name = "ACCESS", default_value_t = SwiftAccessControl::Internal)]
    pub swift_access_control: SwiftAccessControl,
}

/// The access level of generated Swift declarations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SwiftAccessControl {
    Internal,
    Public,
}

/// A language in which types can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    Typescript,
    Go,
    Swift,
    Python,
}
