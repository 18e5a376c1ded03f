//! `selvedge gen types`: prints the database's types for clients.

use anyhow::Result;
use selvedge_config::Config;
use selvedge_database::target::run_on_migrated_database;
use selvedge_terminal::print_text;
use selvedge_typegen::{Language, SwiftAccess, TypeOptions, generate_types};

use crate::cli::{self, GenArgs, GenCommand, SwiftAccessControl, TypesArgs};

/// Runs `selvedge gen types`.
///
/// # Errors
/// When the database cannot be read.
pub(super) async fn run(config: &Config, args: &GenArgs) -> Result<()> {
    match &args.what {
        GenCommand::Types(args) => print_types(config, args).await,
    }
}

async fn print_types(config: &Config, args: &TypesArgs) -> Result<()> {
    let options = TypeOptions {
        schemas: choose_schemas(config, &args.schema),
        detects_one_to_one: !args.postgrest_v9_compat,
    };
    let language = choose_language(args);
    let types = run_on_migrated_database(config, async |client| {
        Ok(generate_types(client, &options, language).await?)
    })
    .await?;
    // Standard output contains nothing else, so that it can be redirected to a file.
    print_text(&format!("{types}\n"))?;
    Ok(())
}

fn choose_language(args: &TypesArgs) -> Language {
    match args.language.unwrap_or(args.lang) {
        cli::Language::Typescript => Language::TypeScript,
        cli::Language::Go => Language::Go,
        cli::Language::Python => Language::Python,
        cli::Language::Swift => Language::Swift(match args.swift_access_control {
            SwiftAccessControl::Internal => SwiftAccess::Internal,
            SwiftAccessControl::Public => SwiftAccess::Public,
        }),
    }
}

/// The schemas of `--schema`, else `public` and those that the API serves.
fn choose_schemas(config: &Config, named: &[String]) -> Vec<String> {
    if !named.is_empty() {
        return named.to_vec();
    }
    let mut schemas = vec!["public".to_owned()];
    schemas.extend(
        config
            .api
            .schemas
            .iter()
            // Schemas that a pattern exposes have the same tables, so one of them is generated only if --schema names it.
            .filter(|name| *name != "public" && !name.ends_with('*'))
            .cloned(),
    );
    schemas
}
