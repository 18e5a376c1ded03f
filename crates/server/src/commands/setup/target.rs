//! What is served: a project that is there, whose data the data folder has, and no database elsewhere.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use selvedge_config::{Config, Project, SettingOrigin, find_variable_line};
use selvedge_project_trust::find_other_holder;

use super::answers::{Answers, PROJECT};
use super::places::LOCAL_SETTINGS;

/// Refuses a folder that is missing, where it is not the one that a first run makes: an empty project would be served in the place of one that
/// is misspelt, on a disk that is not mounted, or about to be renamed.
///
/// # Errors
/// When there is no such folder.
pub(super) fn check_project(answers: &Answers, is_named: bool, was_served: bool) -> Result<()> {
    let project = &answers.project;
    if project.is_dir() || (project == Path::new(PROJECT) && !is_named && !was_served) {
        return Ok(());
    }
    bail!(
        "there is no folder {0}, of which the server would serve an empty project. Nothing was changed\n  copy the project there, or name \
         where it is by --project",
        project.display()
    )
}

/// The project, or an empty one where the folder is still to be made.
///
/// # Errors
/// When the folder leads to another project.
pub(super) fn find_project(folder: &Path) -> Result<Project> {
    if folder.is_dir() {
        return Project::find(Some(folder), Path::new("/")).map_err(|reason| anyhow!(reason));
    }
    Ok(Project {
        folder: folder.to_owned(),
        named: folder.to_owned(),
        repository: folder.to_owned(),
        id: folder
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        file: None,
    })
}

/// Refuses a project that had a config.toml at the last run, and has none: while it is being copied, the server would be started with the settings
/// of a project without one, and another name.
///
/// # Errors
/// When the file is missing.
pub(super) fn check_config_file(found: Option<&Path>, before: Option<&Path>, project: &Path) -> Result<()> {
    match before {
        Some(before) if found.is_none() && before.starts_with(project) => bail!(
            "{0} is missing, which the server runs with. Nothing was changed\n  while a release is being copied:  wait until it is there\n  for a \
             project without settings of its own:  touch {0}",
            before.display()
        ),
        _ => Ok(()),
    }
}

/// Refuses a project whose server would refuse the data folder, as that has the data of another one.
///
/// # Errors
/// When another project is noted there.
pub(super) fn check_holder(config: &Config) -> Result<()> {
    let Some((id, folder)) = find_other_holder(config) else {
        return Ok(());
    };
    let home = config.selvedge.data_dir.display();
    bail!(
        "{home} has the data of {id} in {folder}, and this machine serves one project. Nothing was changed\n  to serve that one:  --project \
         {folder}\n  if the data are this project's now:  rm {home}/project, and then this command again"
    )
}

/// Refuses an address of another database: the server would serve that one, while accounts and migrations go to the machine's own.
///
/// # Errors
/// When a file of the project or of this machine has one. The message says where.
pub(super) fn check_database(config: &Config) -> Result<()> {
    let selvedge = &config.selvedge;
    if selvedge.database_url.is_none() && selvedge.ignored_database_url.is_none() {
        return Ok(());
    }
    bail!(
        "{} names another database, and this machine has its own. Nothing was changed\n  remove it there, or leave that file out of what is \
         copied to this machine\n  to serve a database elsewhere:  docs/operations.md",
        find_database_url(config)
    )
}

/// The file and the line that have the address.
fn find_database_url(config: &Config) -> String {
    let mut settings = config.settings.iter();
    let found = settings.find(|setting| setting.key == "selvedge.database_url");
    let name = match found.map(|setting| &setting.origin) {
        Some(SettingOrigin::File {
            file,
            line,
            environment: None,
        }) => return format!("{file}:{line}"),
        Some(
            SettingOrigin::File {
                environment: Some(name),
                ..
            }
            | SettingOrigin::Environment { environment: name },
        ) => name.clone(),
        _ => "selvedge.database_url".to_owned(),
    };
    // Those of the machine win over those of the project.
    let files = [Path::new(LOCAL_SETTINGS)].into_iter();
    let files = files.chain(config.environment_files.iter().map(PathBuf::as_path));
    let mut found =
        files.filter_map(|file| Some(format!("{}:{}", file.display(), find_variable_line(file, &name)?)));
    found
        .next()
        .map_or(name.clone(), |place| format!("{name} in {place}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use selvedge_config::{Environment, Flags};

    use super::*;

    fn load(project: &Path, home: &Path, variables: &[(String, String)]) -> Config {
        let environment = Environment::load_elsewhere(variables, project, "production").unwrap();
        let flags = Flags {
            data_dir: Some(home.to_owned()),
            ..Flags::default()
        };
        let project = find_project(project).unwrap();
        Config::load_project(project, environment, &flags).unwrap().config
    }

    #[test]
    fn prod_008_only_a_first_run_that_names_no_project_makes_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let at = |project: &Path| Answers {
            project: project.to_owned(),
            ..Answers::default()
        };

        assert!(check_project(&at(folder.path()), true, true).is_ok());
        let typo = check_project(&at(&folder.path().join("ap")), false, false).unwrap_err();
        assert!(typo.to_string().contains("there is no folder"), "{typo}");
        if !Path::new(PROJECT).is_dir() {
            let first = Answers::default();
            assert!(check_project(&first, false, false).is_ok());
            assert!(check_project(&first, true, false).is_err());
            assert!(check_project(&first, false, true).is_err());
        }
    }

    #[test]
    fn prod_008_a_config_toml_that_is_missing_since_the_last_run_is_waited_for() {
        let (project, file) = (Path::new("/srv/app"), Path::new("/srv/app/config.toml"));

        let missing = check_config_file(None, Some(file), project)
            .unwrap_err()
            .to_string();

        assert!(missing.contains("touch /srv/app/config.toml"), "{missing}");
        assert!(check_config_file(None, None, project).is_ok());
        assert!(check_config_file(Some(file), Some(file), project).is_ok());
        assert!(check_config_file(None, Some(file), Path::new("/srv/shop")).is_ok());
    }

    #[test]
    fn prod_008_the_data_of_another_project_are_known_before_anything_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["app", "shop", "home"] {
            fs::create_dir(at(name)).unwrap();
        }
        let note = format!("app\n{}\n", at("app").canonicalize().unwrap().display());
        fs::write(at("home/project"), &note).unwrap();

        let refused = check_holder(&load(&at("shop"), &at("home"), &[]))
            .unwrap_err()
            .to_string();

        assert!(refused.contains("has the data of app in"), "{refused}");
        assert!(check_holder(&load(&at("app"), &at("home"), &[])).is_ok());
        assert_eq!(fs::read_to_string(at("home/project")).unwrap(), note);
    }

    #[test]
    fn prod_008_another_database_is_refused_wherever_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (project, home) = (folder.path().join("app/supabase"), folder.path().join("home"));
        fs::create_dir_all(&project).unwrap();
        let check = |variables: &[(String, String)]| {
            check_database(&load(&project, &home, variables)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[]), Ok(()));

        let url = "postgresql://ana:hunter2@db.example/shop";
        fs::write(
            folder.path().join("app/.env"),
            format!("# of Prisma\nexport DATABASE_URL=\"{url}\"\n"),
        )
        .unwrap();
        let beside = check(&[]).unwrap_err();
        fs::remove_file(folder.path().join("app/.env")).unwrap();
        fs::write(
            project.join("config.toml"),
            format!("\n[selvedge]\ndatabase_url = \"{url}\"\n"),
        )
        .unwrap();
        let of_file = check(&[]).unwrap_err();
        fs::remove_file(project.join("config.toml")).unwrap();
        let of_machine = check(&[("PGRST_DB_URI".to_owned(), url.to_owned())]).unwrap_err();

        assert!(
            beside.contains("DATABASE_URL in ") && beside.contains("app/.env:2 names"),
            "{beside}"
        );
        assert!(
            of_file.contains("config.toml:3 names another database"),
            "{of_file}"
        );
        assert!(of_machine.contains("PGRST_DB_URI"), "{of_machine}");
        for refused in [beside, of_file, of_machine] {
            assert!(!refused.contains("hunter2"), "{refused}");
        }
    }
}
