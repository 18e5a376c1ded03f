//! `selvedge functions new`: writes the files of a new function and its section in `config.toml`.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_functions::is_valid_slug;
use selvedge_keys::KeySet;
use selvedge_project_trust::check_place;
use selvedge_terminal::{GOOD, print_note};

use super::listing::find_declared;
use crate::cli::{FunctionAuth, NewFunctionArgs};

const DENO_JSON: &str = include_str!("templates/deno.json");
const NPMRC: &str = include_str!("templates/npmrc");

/// Creates a function. Nothing that exists is overwritten.
pub(super) fn create_function(config: &Config, args: &NewFunctionArgs) -> Result<()> {
    let slug = &args.slug;
    if !is_valid_slug(slug) {
        bail!(
            "Invalid Function name. Must start with at least one letter, and only include alphanumeric characters, \
             underscores, and hyphens. (^[A-Za-z][A-Za-z0-9_-]*$)"
        );
    }
    let folder = config.project.folder.join("functions").join(slug);
    check_place(&config.project, &folder)?;
    check_place(&config.project, &config.project.folder.join("config.toml"))?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let key = KeySet::of_instance(config)?.browser_key().to_owned();
    let url = format!("{}/functions/v1/{slug}", config.api_url());
    let index = choose_template(args.auth)
        .replace("{{URL}}", &url)
        .replace("{{KEY}}", &key);
    write_new(&folder.join("index.ts"), &index)?;
    for (name, text) in [("deno.json", DENO_JSON), (".npmrc", NPMRC)] {
        // These may be there already, from a function whose code was deleted.
        if !folder.join(name).exists() {
            write_new(&folder.join(name), text)?;
        }
    }
    declare_function(config, slug, args.auth)?;
    anstream::println!("{GOOD}created{GOOD:#} {}", folder.join("index.ts").display());
    Ok(())
}

fn choose_template(auth: FunctionAuth) -> &'static str {
    match auth {
        FunctionAuth::None => include_str!("templates/none.ts"),
        FunctionAuth::Apikey => include_str!("templates/apikey.ts"),
        FunctionAuth::User => include_str!("templates/user.ts"),
    }
}

fn write_new(path: &Path, text: &str) -> Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .with_context(|| format!("cannot create {}", path.display()))?;
    file.write_all(text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Appends `[functions.<slug>]` to `config.toml`. The text is appended and not rewritten, which keeps comments and order.
fn declare_function(config: &Config, slug: &str, auth: FunctionAuth) -> Result<()> {
    if find_declared(config, slug).is_some() {
        print_note(&format!(
            "[functions.{slug}] is in config.toml already and was left alone"
        ));
        return Ok(());
    }
    let path = config.project.folder.join("config.toml");
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    let verify_jwt = auth == FunctionAuth::User;
    let section = format!(
        "\n[functions.{slug}]\nenabled = true\nverify_jwt = {verify_jwt}\nimport_map = \"./functions/{slug}/deno.json\"\n\
         # Other entrypoints than index.ts are .ts, .js, .mjs, .jsx or .tsx files.\nentrypoint = \
         \"./functions/{slug}/index.ts\"\n# Files that the function may read, as globs.\n# static_files = [ \
         \"./functions/{slug}/*.html\" ]\n"
    );
    file.write_all(section.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))
}
