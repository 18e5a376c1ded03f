//! `selvedge gen types`: prints the database's types for supabase-js.

use anyhow::Result;
use selvedge_typegen::{TypeOptions, generate_typescript};

use crate::cli::{GenArgs, GenCommand, Language, TypesArgs};
use crate::config::Config;
use crate::database::target::run_on_migrated_database;

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
    let types = run_on_migrated_database(config, async |client| match args.language.unwrap_or(args.lang) {
        Language::Typescript => Ok(generate_typescript(client, &options).await?),
    })
    .await?;
    // Nothing else goes to standard output, so that it can be written to a file as it is.
    print!("{types}");
    Ok(())
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
            // The schemas of a pattern are alike, so types are generated of one that is named with --schema.
            .filter(|name| *name != "public" && !name.ends_with('*'))
            .cloned(),
    );
    schemas
}
