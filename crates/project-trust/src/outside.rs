//! Finds what a project takes from outside of itself: by a setting of its files, or by a link that came with it.
//!
//! Functions of a project can send what they read anywhere, everybody may read a public bucket and a site, and migrations and mails pass on
//! what is in a file. So a path that leads out of the project would hand over files of whoever starts it.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use selvedge_config::{Config, NamedPath, climbs_behind_wildcard};
use selvedge_postgres::migrate::find_seeds;
use walkdir::WalkDir;

use super::place::{ProjectPlace, find_place};

/// Files and folders of a project that commands and services read by these names.
const NAMES: [&str; 11] = [
    "config.toml",
    "seed.sql",
    "roles.sql",
    "signing_keys.json",
    ".temp",
    "functions",
    "migrations",
    "schemas",
    "snippets",
    "tenant_migrations",
    "tests",
];
/// The patterns of seeds.
const SEEDS: &str = "db.seed.sql_paths";
/// The folder of downloaded modules, which is believed as it is found, and written to.
const CACHE: &str = "selvedge.functions.cache_dir";
/// Those of them whose files are read by whatever name. Functions have a rule of their own, and of snippets no link is read.
const FOLDERS: [&str; 5] = [".temp", "migrations", "schemas", "tenant_migrations", "tests"];

/// Lists the paths outside of the project that its files name or link to.
pub(super) fn list_outside(config: &Config) -> Vec<NamedPath> {
    let place = ProjectPlace::of(&config.project);
    let seed_folders: Vec<PathBuf> = config
        .selvedge
        .paths_of_files
        .iter()
        .filter(|named| named.key() == SEEDS)
        .filter_map(|named| place.leads_out(named.path()))
        .collect();
    let links = list_own_paths(config, &place);
    let links: Vec<NamedPath> = links
        .iter()
        .filter_map(|path| Some(NamedPath::of_link(path, &place.leads_out(path)?)))
        // Seeds of a folder that is asked about as a whole.
        .filter(|link| {
            !seed_folders
                .iter()
                .any(|folder| link.path() != folder && link.path().starts_with(folder))
        })
        .collect();
    let named = config.selvedge.paths_of_files.iter();
    let named = named.filter(|named| !named.is_program()).filter_map(|named| {
        let target = place.leads_out(named.path()).or_else(|| {
            // Deno writes through links that may be anywhere in it.
            (named.key() == CACHE).then(|| named.path().to_owned())
        })?;
        let is_link = links.iter().any(|link| link.path() == target);
        (!is_link).then(|| NamedPath::of_key(named.key(), &target))
    });
    named.chain(links.iter().cloned()).collect()
}

/// Paths by their names in the project, as far as something is there.
fn list_own_paths(config: &Config, place: &ProjectPlace) -> Vec<PathBuf> {
    let folder = &config.project.folder;
    let mut paths: Vec<PathBuf> = NAMES.iter().map(|name| folder.join(name)).collect();
    for name in FOLDERS {
        let inner = folder.join(name);
        if place.leads_out(&inner).is_none() {
            list_links(&inner, place, &mut paths);
        }
    }
    let is_own = |path: &&PathBuf| place.has_name(path);
    paths.extend(config.environment_files.iter().filter(is_own).cloned());
    if config.db.seed.enabled && folder.is_dir() {
        // A pattern that cannot be read is reported where seeds are applied.
        let patterns = config.db.seed.sql_paths.iter();
        let patterns: Vec<String> = patterns
            .filter(|pattern| !climbs_behind_wildcard(pattern))
            .cloned()
            .collect();
        let seeds = find_seeds(folder, &patterns).unwrap_or_default().0;
        // Links may lead out behind a wildcard, so the name of a file does not say where it is.
        paths.extend(seeds.into_iter().map(|seed| seed.path));
    }
    paths.retain(|path| path.symlink_metadata().is_ok());
    paths.sort();
    paths.dedup();
    paths
}

/// Adds the links below a folder, also those behind links that stay in the project.
fn list_links(folder: &Path, place: &ProjectPlace, links: &mut Vec<PathBuf>) {
    // Each folder once: links that lead to the same folder by several ways make more paths than anybody can list.
    let mut seen = BTreeSet::new();
    let mut walk = WalkDir::new(folder).follow_links(true).into_iter();
    while let Some(entry) = walk.next() {
        let Ok(entry) = entry else { continue };
        let is_folder = entry.file_type().is_dir();
        let is_known = is_folder
            && !entry
                .metadata()
                .is_ok_and(|meta| seen.insert((meta.dev(), meta.ino())));
        if is_known || (is_folder && entry.path_is_symlink() && place.leads_out(entry.path()).is_some()) {
            walk.skip_current_dir();
        }
        if entry.path_is_symlink() {
            links.push(entry.into_path());
        }
    }
}

/// A path that a file of the project names and by which passwords, keys or data of the project would be handed out: it is one of them, is in
/// one, or is around one. The user's trust does not change that: whoever has the superuser's password runs programs.
/// `None` in place of the secret where nobody can say yet where the path will lead.
pub(super) fn find_exposed_secret(config: &Config) -> Option<(NamedPath, Option<PathBuf>)> {
    let place = ProjectPlace::of(&config.project);
    let secrets = place.list_secrets(config);
    // Not patterns of seeds, whose fixed part is often the project's folder, and not keys and caches, which belong beside secrets.
    let is_handed_out = |named: &&NamedPath| {
        ["selvedge.site", "objects_path", "content_path"]
            .iter()
            .any(|end| named.key().ends_with(end))
    };
    let mut named = config.selvedge.paths_of_files.iter().filter(is_handed_out);
    named.find_map(|named| {
        let Some(target) = find_place(named.path()) else {
            return Some((named.clone(), None));
        };
        let is_near = |secret: &&PathBuf| target.starts_with(secret) || secret.starts_with(&target);
        let secret = secrets.iter().find(is_near).cloned();
        // Also those of another project in the repository, and of other tools.
        let secret = secret.or_else(|| place.find_private(&target))?;
        Some((named.clone(), Some(secret)))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use selvedge_config::{Environment, Flags, Project};

    use super::*;

    /// What a project takes from outside, as people are told.
    fn describe_outside(folder: &Path, variables: &[(&str, &str)]) -> Vec<String> {
        let project = Project::find(Some(folder), folder).unwrap();
        let environment: Environment = variables.iter().copied().collect();
        let loaded = Config::load_project(project, environment, &Flags::default()).unwrap();
        list_outside(&loaded.config)
            .iter()
            .map(NamedPath::describe)
            .collect()
    }

    fn make_folders(root: &Path) {
        for name in ["clone/supabase/migrations", "clone/dist", "victim"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in ["key", "seed.sql", "invite.html"] {
            std::fs::write(root.join("victim").join(name), "").unwrap();
        }
    }

    #[test]
    fn gw_109_settings_that_lead_out_of_the_project_are_found() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        make_folders(&root);
        symlink(root.join("victim"), root.join("clone/shortcut")).unwrap();
        let victim = root.join("victim").display().to_string();
        let text = format!(
            "[auth]\nsigning_keys_path = \"{victim}/key\"\n[auth.email.template.invite]\ncontent_path = \"../victim/invite.html\"\n\
             [db.seed]\nsql_paths = [\"../../victim/*.sql\"]\n[storage.buckets.a]\nobjects_path = \"../shortcut\"\n\
             [storage.buckets.b]\nobjects_path = \"./missing/../../../victim\"\n[storage.buckets.own]\nobjects_path = \"../dist\"\n\
             [selvedge]\nsite = \"env(HOME)\"\n"
        );
        std::fs::write(root.join("clone/supabase/config.toml"), text).unwrap();

        let found = describe_outside(&root.join("clone"), &[("HOME", &victim)]);
        let named = describe_outside(
            &root.join("clone"),
            &[("HOME", &victim), ("SELVEDGE_SITE", &victim)],
        );

        let expected = [
            format!("selvedge.site = {victim}"),
            format!("auth.signing_keys_path = {victim}/key"),
            format!("storage.buckets.a.objects_path = {victim}"),
            format!(
                "storage.buckets.b.objects_path = {}/clone/supabase/missing/../../../victim",
                root.display()
            ),
            format!("auth.email.template.invite.content_path = {victim}/invite.html"),
            format!("db.seed.sql_paths = {victim}"),
        ];
        assert_eq!(found, expected);
        // Whoever calls the command has named it, and not the project.
        assert_eq!(named, expected[1..]);
    }

    #[test]
    fn gw_109_links_that_lead_out_of_the_project_are_found() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        make_folders(&root);
        let folder = root.join("clone/supabase");
        std::fs::write(folder.join("config.toml"), "").unwrap();
        std::fs::write(folder.join("migrations/1_own.sql"), "").unwrap();
        symlink("1_own.sql", folder.join("migrations/2_own.sql")).unwrap();
        symlink("../dist", folder.join("schemas")).unwrap();
        assert!(describe_outside(&folder, &[]).is_empty());

        symlink("../../../victim/key", folder.join("migrations/3_x.sql")).unwrap();
        symlink("../../victim", folder.join("functions")).unwrap();
        symlink("../../victim/seed.sql", folder.join("seed.sql")).unwrap();
        symlink("/nowhere", folder.join("roles.sql")).unwrap();

        let (shown, victim) = (folder.display(), root.join("victim").display().to_string());
        assert_eq!(
            describe_outside(&folder, &[]),
            [
                format!("the link {shown}/functions to {victim}"),
                format!("the link {shown}/migrations/3_x.sql to {victim}/key"),
                format!("the link {shown}/roles.sql to {shown}/roles.sql"),
                format!("the link {shown}/seed.sql to {victim}/seed.sql"),
            ]
        );
    }
}
