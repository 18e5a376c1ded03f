//! A package of PostgreSQL is upgraded while a cluster runs from it.

use super::*;

/// Copies the machine's installation to where its package can be exchanged. Returns the folder of its programs.
fn copy_installation(config: &ClusterConfig, target: &Path) -> PathBuf {
    let programs = config.find_binaries().expect("PostgreSQL").folder().to_owned();
    let programs = programs.canonicalize().expect("a folder");
    let version = programs.parent().expect("a folder of the version");
    let share = PathBuf::from(format!(
        "/usr/share/postgresql/{}",
        version.file_name().expect("a name").to_string_lossy()
    ));
    let name = version.file_name().expect("a name");
    let mut copies = vec![(version, target.join("lib/postgresql").join(name))];
    // Debian's package has its shared files apart, npm's has everything in one folder.
    if share.is_dir() {
        copies.push((&share, target.join("share/postgresql").join(name)));
    }
    for (from, to) in copies {
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("created");
        let copied = std::process::Command::new("cp")
            .arg("-a")
            .args([from, &to])
            .status();
        assert!(copied.expect("cp runs").success());
    }
    target.join("lib/postgresql").join(name).join("bin")
}

fn find_file(folder: &Path, name: &str) -> PathBuf {
    walk(folder)
        .into_iter()
        .find(|path| path.file_name().is_some_and(|found| found == name))
        .unwrap_or_else(|| panic!("{name} is below {}", folder.display()))
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

#[tokio::test]
async fn gw_028_an_upgrade_of_the_package_does_not_reach_a_running_cluster() {
    let mut project = Project::new();
    let package = project.folder.path().join("package");
    project.config.pg_bin = Some(copy_installation(&project.config, &package));
    let cluster = project.start().await.expect("starts");
    assert!(!project.config.runs_replaced_programs().expect("known"));

    // As a package manager does it: each file is written beside the old one, and renamed.
    for path in walk(&package) {
        if [
            "plpgsql.so",
            "dict_snowball.so",
            "pgcrypto.so",
            "citext.control",
            "Default",
            "english.stop",
        ]
        .iter()
        .any(|name| path.ends_with(name))
        {
            let new = path.with_extension("new");
            std::fs::write(&new, "of a newer version").expect("written");
            std::fs::rename(&new, &path).expect("renamed");
        }
    }
    let replaced = find_file(&package, "plpgsql.so");
    assert_eq!(std::fs::read(replaced).expect("there"), b"of a newer version");

    let client = superuser(&cluster).await;
    client
        .batch_execute(
            "do $$ begin perform 1; end $$;
             create extension pgcrypto; select digest('a', 'sha256');
             create extension citext;
             set timezone_abbreviations = 'Default';
             select to_tsvector('english', 'the words')",
        )
        .await
        .expect("the running cluster has its own files");
    assert!(project.config.runs_replaced_programs().expect("known"));
    cluster.stop().await.expect("stops");
}
