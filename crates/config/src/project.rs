//! Finds the project's folder: `--project`, or the nearest one upward from the current directory.

use std::path::{Path, PathBuf};

use selvedge_project_files::{find_repository, resolve};

/// A project folder in the Supabase CLI's layout.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder of `config.toml`, `migrations/` and `seed.sql`. It need not exist.
    pub folder: PathBuf,
    /// The folder as it was named, where links are still links: a release is often behind one.
    pub named: PathBuf,
    /// The folder that holds `supabase/`; the project's folder itself when it has another name.
    pub repository: PathBuf,
    /// `project_id`, or the name of the repository's folder.
    pub id: String,
    /// `config.toml`, if there is one.
    pub file: Option<PathBuf>,
}

impl Project {
    /// Finds the project: in `given`, or from `here` upward the first folder that has a `supabase/`
    /// folder or a `config.toml`; else an empty project in `here`.
    ///
    /// # Errors
    /// When `given` is not a folder, or `supabase/` is a link to another project.
    pub fn find(given: Option<&Path>, here: &Path) -> Result<Self, String> {
        if let Some(given) = given {
            let folder = here.join(given);
            if !folder.is_dir() {
                return Err(format!("--project {}: there is no such folder", given.display()));
            }
            return Ok(Self::at(supabase_folder(&folder)?.unwrap_or(folder)));
        }
        let nearest = here.ancestors().find_map(|folder| {
            let has_config = || folder.join("config.toml").is_file().then(|| folder.to_path_buf());
            supabase_folder(folder)
                .map(|found| found.or_else(has_config))
                .transpose()
        });
        let nearest = nearest.transpose()?;
        // Without a project, `supabase/` (which does not exist) is taken rather than the current directory: a
        // `migrations/` folder there may belong to another tool.
        Ok(Self::at(nearest.unwrap_or_else(|| here.join("supabase"))))
    }

    fn at(named: PathBuf) -> Self {
        let folder = named.canonicalize().unwrap_or_else(|_| named.clone());
        let repository = match folder.parent() {
            Some(parent) if folder.file_name().is_some_and(|name| name == "supabase") => parent.to_path_buf(),
            _ => folder.clone(),
        };
        let file = Some(folder.join("config.toml")).filter(|file| file.is_file());
        let name = repository
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Self {
            id: sanitized_id(&name),
            folder,
            named,
            repository,
            file,
        }
    }

    /// Returns the default of `data_dir`: `.selvedge` in the project's folder, or in the repository when there is none.
    ///
    /// A project that was started before it had a folder keeps its database in the repository: otherwise creating the folder
    /// for the first migration would change the location of the running database.
    pub fn default_data_dir(&self) -> PathBuf {
        let in_folder = self.folder.join(".selvedge");
        let in_repository = self.repository.join(".selvedge");
        // The data themselves may be elsewhere, as those of root's projects are.
        let is_started = ["pgdata", "location"]
            .iter()
            .any(|name| in_repository.join(name).exists());
        let started_without_folder = is_started && !in_folder.is_dir();
        if started_without_folder || !self.folder.is_dir() {
            in_repository
        } else {
            in_folder
        }
    }
}

/// Makes a `project_id` as the CLI does: other characters than `[A-Za-z0-9_.-]` become `_`, and it has at most 40.
pub(super) fn sanitized_id(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let replaced: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    let id: String = replaced
        .trim_start_matches(['_', '.', '-'])
        .chars()
        .take(40)
        .collect();
    if id.is_empty() { "selvedge".to_owned() } else { id }
}

/// The folder `supabase` in a folder, if there is one.
///
/// # Errors
/// When it is a link to a place outside of the repository: commands in a stranger's folder would work on another project of the user.
fn supabase_folder(folder: &Path) -> Result<Option<PathBuf>, String> {
    let supabase = folder.join("supabase");
    // A program of that name is no project, whatever it is a link to.
    if supabase.is_symlink()
        && supabase.is_dir()
        && let Ok(target) = supabase.canonicalize()
        && !target.starts_with(find_repository(&resolve(folder)))
    {
        return Err(format!(
            "{} is a link to {}, outside of this folder's repository\n  to work on that project:  --project {1}",
            supabase.display(),
            target.display()
        ));
    }
    Ok(supabase.is_dir().then_some(supabase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_028_the_nearest_project_upward_is_found() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("shop/supabase")).unwrap();
        std::fs::create_dir_all(root.join("shop/src/deep")).unwrap();
        std::fs::create_dir_all(root.join("plain")).unwrap();
        std::fs::create_dir_all(root.join("sql/app")).unwrap();
        std::fs::write(root.join("sql/app/config.toml"), "").unwrap();

        let nested = Project::find(None, &root.join("shop/src/deep")).unwrap();
        let given = Project::find(Some(Path::new("sql/app")), &root).unwrap();
        let nothing = Project::find(None, &root.join("plain")).unwrap();

        assert_eq!(
            (nested.folder, nested.id.as_str()),
            (root.join("shop/supabase"), "shop")
        );
        assert_eq!((given.folder, given.id.as_str()), (root.join("sql/app"), "app"));
        assert!(given.file.is_some());
        assert_eq!(nothing.default_data_dir(), root.join("plain/.selvedge"));
        assert!(Project::find(Some(Path::new("nowhere")), &root).is_err());
    }

    #[test]
    fn gw_028_a_database_that_is_older_than_the_projects_folder_stays_where_it_is() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join(".selvedge/pgdata")).unwrap();
        std::fs::create_dir_all(root.join("supabase/migrations")).unwrap();

        let project = Project::find(None, &root).unwrap();

        assert_eq!(project.folder, root.join("supabase"));
        assert_eq!(project.default_data_dir(), root.join(".selvedge"));
        // Root's data may be elsewhere; then a file says where.
        std::fs::remove_dir(root.join(".selvedge/pgdata")).unwrap();
        std::fs::write(root.join(".selvedge/location"), "/var/lib/selvedge/x").unwrap();
        assert_eq!(project.default_data_dir(), root.join(".selvedge"));
        std::fs::create_dir_all(root.join("supabase/.selvedge")).unwrap();
        assert_eq!(project.default_data_dir(), root.join("supabase/.selvedge"));
    }

    #[test]
    fn gw_109_a_link_to_another_project_is_not_followed_unless_it_is_named() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("own/supabase")).unwrap();
        std::fs::create_dir_all(root.join("clone/packages/api/supabase")).unwrap();
        std::fs::create_dir_all(root.join("clone/.git")).unwrap();
        std::os::unix::fs::symlink("packages/api/supabase", root.join("clone/supabase")).unwrap();
        let inside = Project::find(None, &root.join("clone")).unwrap();
        std::fs::remove_file(root.join("clone/supabase")).unwrap();
        std::os::unix::fs::symlink("../own/supabase", root.join("clone/supabase")).unwrap();

        let found = Project::find(None, &root.join("clone"));
        let given = Project::find(Some(Path::new("clone")), &root);
        let named = Project::find(Some(Path::new("clone/supabase")), &root);

        assert_eq!(inside.folder, root.join("clone/packages/api/supabase"));
        for refused in [found, given] {
            let message = refused.unwrap_err();
            assert!(message.contains("own/supabase"), "{message}");
        }
        assert_eq!(named.unwrap().folder, root.join("own/supabase"));
    }

    #[test]
    fn gw_028_project_ids_are_sanitized() {
        assert_eq!(sanitized_id("my app (v2)"), "my_app__v2_");
        assert_eq!(sanitized_id("--x"), "x");
        assert_eq!(sanitized_id("…"), "selvedge");
    }
}
