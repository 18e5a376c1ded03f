//! Which files and folders settings name whose content reaches others: it is served, uploaded, mailed or run, or others believe what it
//! signs.
//!
//! Left out is what only this server reads: certificates, and functions, which have a rule of their own for the files they are made of.

use std::path::{Component, Path, PathBuf};

use crate::postgrest::NamedSetting;
use crate::sections::auth::{AuthSection, EmailSection};
use crate::sections::database::SeedConfig;
use crate::sections::selvedge::{NamedPath, SelvedgeSection};
use crate::sections::storage::StorageSection;

/// Lists them with their keys, whoever has set them. `project` is the project's folder.
pub(super) fn list_read_paths(
    project: &Path,
    selvedge: &SelvedgeSection,
    auth: &AuthSection,
    storage: &StorageSection,
    seed: &SeedConfig,
) -> Vec<NamedPath> {
    let credentials = selvedge
        .nats
        .as_ref()
        .and_then(|nats| nats.credentials_file.as_ref());
    let single = [
        ("selvedge.site", selvedge.site.as_ref()),
        ("auth.signing_keys_path", auth.signing_keys_path.as_ref()),
        (
            "selvedge.functions.cache_dir",
            selvedge.functions.cache_dir.as_ref(),
        ),
        ("selvedge.nats.credentials_file", credentials),
    ];
    let single = single
        .into_iter()
        .filter_map(|(key, path)| Some(NamedPath::of_key(key, path?)));
    let buckets = storage.buckets.iter().filter_map(|bucket| {
        let key = format!("storage.buckets.{}.objects_path", bucket.id);
        Some(NamedPath::of_key(&key, bucket.objects_path.as_ref()?))
    });
    let patterns = seed.sql_paths.iter();
    let seeds = patterns.map(|pattern| NamedPath::of_key("db.seed.sql_paths", &fixed_part(project, pattern)));
    single
        .chain(buckets)
        .chain(list_templates(&auth.email))
        .chain(seeds.filter(|_| seed.enabled))
        .collect()
}

/// The files that hold the values of PostgREST's settings (`PGRST_JWT_SECRET=@FILE`).
pub(super) fn list_setting_files(settings: &[NamedSetting]) -> impl Iterator<Item = NamedPath> {
    settings
        .iter()
        .filter_map(|setting| Some(NamedPath::of_key(&setting.key(), setting.file()?)))
}

fn list_templates(email: &EmailSection) -> impl Iterator<Item = NamedPath> {
    let templates = email.templates.iter().map(|template| ("template", template));
    let notifications = email
        .notifications
        .iter()
        .map(|found| ("notification", &found.template));
    templates.chain(notifications).filter_map(|(section, template)| {
        let key = format!("auth.email.{section}.{}.content_path", template.name);
        Some(NamedPath::of_key(&key, template.content_path.as_ref()?))
    })
}

/// The path of a glob pattern up to its first component with a special character; all of it when it climbs behind that, so that nobody can
/// say where it leads.
fn fixed_part(project: &Path, pattern: &str) -> PathBuf {
    if climbs_behind_wildcard(pattern) {
        return project.join(pattern);
    }
    // Of the pattern alone: the project's own path may have special characters.
    let fixed = Path::new(pattern)
        .components()
        .filter(|component| *component != Component::CurDir)
        .take_while(|component| !is_wildcard(component));
    let fixed: PathBuf = fixed.collect();
    project.join(fixed).components().collect()
}

/// Whether a glob pattern has `..` behind a component with a special character, as in `*/../../*`: expanding such a pattern could read
/// folders of the whole machine.
pub fn climbs_behind_wildcard(pattern: &str) -> bool {
    let mut behind = Path::new(pattern)
        .components()
        .skip_while(|component| !is_wildcard(component));
    behind.any(|component| component == Component::ParentDir)
}

fn is_wildcard(component: &Component<'_>) -> bool {
    matches!(component, Component::Normal(name) if name.to_string_lossy().contains(['*', '?', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_109_a_pattern_of_seeds_begins_in_a_folder() {
        let fixed = |pattern: &str| fixed_part(Path::new("/p"), pattern).display().to_string();

        assert_eq!(fixed("./seeds/*.sql"), "/p/seeds");
        assert_eq!(fixed("seed.sql"), "/p/seed.sql");
        assert_eq!(fixed("../../home/**/x?.sql"), "/p/../../home");
        assert_eq!(fixed("/etc/[a]/b"), "/etc");
        assert_eq!(fixed("m*/../../**/x.sql"), "/p/m*/../../**/x.sql");
        let in_brackets = fixed_part(Path::new("/home/u/[shop]/supabase"), "./seeds/*.sql");
        assert_eq!(in_brackets, Path::new("/home/u/[shop]/supabase/seeds"));
    }
}
