//! The functions of a project: those with a folder and those that `config.toml` declares.

use selvedge_config::{Config, FunctionSection};
use selvedge_functions::list_function_folders;
use selvedge_terminal::{OutputFormat, Values, print_values};

/// `functions list`: names, and who may call each.
pub(super) fn list_functions(config: &Config, format: OutputFormat) {
    let values: Values = list_slugs(config)
        .into_iter()
        .map(|slug| {
            let declared = find_declared(config, &slug);
            let state = match declared {
                Some(function) if !function.enabled => "disabled",
                Some(function) if !function.verify_jwt => "open to anybody",
                _ => "needs a JWT",
            };
            (slug.into(), state.to_owned())
        })
        .collect();
    if values.is_empty() && format == OutputFormat::Pretty {
        anstream::println!("the project has no functions; make one with:  selvedge functions new hello");
        return;
    }
    print_values(&values, format);
}

/// The names of all functions: those with a folder, then those that only `config.toml` declares.
pub(super) fn list_slugs(config: &Config) -> Vec<String> {
    let mut slugs = list_function_folders(&config.project.folder.join("functions"));
    for declared in &config.functions.functions {
        if !slugs.contains(&declared.slug) {
            slugs.push(declared.slug.clone());
        }
    }
    slugs
}

/// The section of a function in `config.toml`.
pub(super) fn find_declared<'a>(config: &'a Config, slug: &str) -> Option<&'a FunctionSection> {
    let functions = &config.functions.functions;
    functions.iter().find(|function| function.slug == slug)
}
