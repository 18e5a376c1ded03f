//! Names the keys that the Supabase CLI has removed from `config.toml`, so that a project that still has one learns what to
//! write instead. Version 3 of the CLI refuses such a file. `[inbucket]` is not named: it is read like `[local_smtp]`.

use super::section::Section;

/// Providers whose section was replaced by one for OpenID Connect, `<name>_oidc`.
const REPLACED_BY_OIDC: [&str; 2] = ["linkedin", "slack"];

/// Adds a warning for `orioledb_version` in `[experimental]`; all other keys of that section are ignored.
pub(crate) fn warn_of_removed_experiments(experimental: &Section<'_>) {
    experimental.ignore_all();
    // Older templates of the CLI contain the key with an empty value, which never had an effect.
    if experimental
        .optional_string("orioledb_version")
        .is_some_and(|version| !version.is_empty())
    {
        experimental.report_warning(
            "orioledb_version",
            "was removed from the Supabase CLI, which reads db.orioledb_version instead; neither has an effect here: tables \
             are stored by PostgreSQL's own engine",
        );
    }
}

/// Adds a warning for each removed section below `[auth.external]`, also for one that is switched off, which the CLI refuses
/// as well.
pub(crate) fn warn_of_removed_providers(external: &Section<'_>) {
    for name in external.entry_names() {
        if REPLACED_BY_OIDC.contains(&name.as_str()) {
            external.report_warning(
                &name,
                &format!("was removed from the Supabase CLI; use [auth.external.{name}_oidc] instead"),
            );
        }
    }
}
