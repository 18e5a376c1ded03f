//! Operator keys: files of the project neither set them nor read their secrets.

use super::*;

/// The values of the operator keys in a configuration.
fn describe(loaded: &Loaded) -> Vec<String> {
    let section = &loaded.config.selvedge;
    let secret =
        |value: &Option<secrecy::SecretString>| value.as_ref().map(|value| value.expose_secret().to_owned());
    vec![
        format!("{:?}", secret(&section.superuser_password)),
        format!("{:?}", secret(&section.service_password)),
        format!("{:?}", secret(&section.console_password)),
        format!("{:?}", secret(&section.postgres_password)),
        format!("{:?}", section.vault_key_file),
        format!("{:?}", section.reserve_file_roles),
        format!("{:?}", section.accept_md5_roles),
        format!("{:?}", loaded.config.db.settings),
    ]
}

fn refusal(place: &str, key: &str, variable: &str) -> String {
    format!(
        "{place}: {key} has no effect in a file of the project, whose authors would gain by it: take it out, and set {variable} in the environment"
    )
}

const FILE: &str = "[selvedge]\nsuperuser_password = \"x\"\nservice_password = \"x\"\nconsole_password = \"env(LANG)\"\n\
    postgres_password = \"x\"\nvault_key_file = \"/x\"\nreserve_file_roles = false\naccept_md5_roles = true\n\
    [db.settings]\nwork_mem = \"8MB\"\nArchive_Command = \"touch /x\"\n";

#[test]
fn gw_012_what_decides_over_roles_and_programs_of_the_server_counts_from_the_process_alone() {
    let loaded = load(FILE, [("LANG", "C.UTF-8")]).unwrap();

    let only_work_mem = "[(\"work_mem\", \"8MB\")]";
    let nothing = [
        "None",
        "None",
        "None",
        "None",
        "None",
        "None",
        "false",
        only_work_mem,
    ];
    assert_eq!(describe(&loaded), nothing);
    let expected: Vec<String> = [
        (2, "selvedge.superuser_password", "SELVEDGE_SUPERUSER_PASSWORD"),
        (3, "selvedge.service_password", "SELVEDGE_SERVICE_PASSWORD"),
        (4, "selvedge.console_password", "SELVEDGE_CONSOLE_PASSWORD"),
        (5, "selvedge.postgres_password", "SELVEDGE_POSTGRES_PASSWORD"),
        (6, "selvedge.vault_key_file", "SELVEDGE_VAULT_KEY_FILE"),
        (7, "selvedge.reserve_file_roles", "SELVEDGE_RESERVE_FILE_ROLES"),
        (8, "selvedge.accept_md5_roles", "SELVEDGE_ACCEPT_MD5_ROLES"),
        (
            11,
            "db.settings.Archive_Command",
            "SUPABASE_DB_SETTINGS_ARCHIVE_COMMAND",
        ),
    ]
    .into_iter()
    .map(|(line, key, variable)| refusal(&format!("config.toml:{line}"), key, variable))
    .collect();
    // Each once, among the warnings.
    assert_eq!(loaded.warnings, expected);
    assert_eq!(loaded.config.refused_keys.len(), expected.len());
    // An ignored value is not named as the origin either.
    let is_default = |key: &str| {
        let mut settings = loaded.config.settings.iter();
        settings.any(|setting| setting.key == key && setting.origin == SettingOrigin::Default)
    };
    assert!(is_default("selvedge.service_password") && is_default("selvedge.accept_md5_roles"));
}

#[test]
fn gw_012_what_decides_over_roles_and_programs_of_the_server_is_said_by_variables() {
    let variables = [
        ("SELVEDGE_SUPERUSER_PASSWORD", "1"),
        ("SELVEDGE_SERVICE_PASSWORD", "2"),
        ("SHOP_CONSOLE_PASSWORD", "3"),
        ("SELVEDGE_POSTGRES_PASSWORD", "4"),
        ("SELVEDGE_VAULT_KEY_FILE", "/key"),
        ("SELVEDGE_RESERVE_FILE_ROLES", "true"),
        ("SELVEDGE_ACCEPT_MD5_ROLES", "true"),
        ("SUPABASE_DB_SETTINGS_ARCHIVE_COMMAND", "cp"),
        ("SUPABASE_DB_SETTINGS_WORK_MEM", "9MB"),
    ];
    // The variable's name ends with the key's, so it was set for it.
    let text =
        "[selvedge]\nconsole_password = \"env(SHOP_CONSOLE_PASSWORD)\"\n[db.settings]\nwork_mem = \"8MB\"\n";

    let loaded = load(text, variables).unwrap();

    assert_eq!(loaded.warnings, Vec::<String>::new());
    let settings = "[(\"work_mem\", \"9MB\"), (\"archive_command\", \"cp\")]";
    assert_eq!(
        describe(&loaded),
        [
            "Some(\"1\")",
            "Some(\"2\")",
            "Some(\"3\")",
            "Some(\"4\")",
            "Some(\"/key\")",
            "Some(true)",
            "true",
            settings
        ]
    );
}

#[test]
fn gw_012_a_file_of_variables_is_a_file_of_the_project_and_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".env");
    std::fs::write(
        &file,
        "A=b\nexport SELVEDGE_SERVICE_PASSWORD=x\nSUPABASE_DB_SETTINGS_ARCHIVE_COMMAND=x\n",
    )
    .unwrap();
    let environment = Environment::load_elsewhere(&[], folder.path(), "development").unwrap();
    let project = Project::find(Some(folder.path()), folder.path()).unwrap();

    let loaded = Config::load_project(project, environment, &Flags::default()).unwrap();

    assert!(loaded.config.selvedge.service_password.is_none() && loaded.config.db.settings.is_empty());
    let place = format!("{}:2", file.canonicalize().unwrap().display());
    let expected = refusal(&place, "selvedge.service_password", "SELVEDGE_SERVICE_PASSWORD");
    assert_eq!(loaded.warnings, [expected]);
}

/// A value in a file does not hide the process' own value of another spelling, and a reference to a variable that is not set here is no fault.
#[test]
fn gw_012_what_a_file_says_does_not_hide_what_the_process_says() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at(".env"), "SELVEDGE_SERVICE_PASSWORD=x\n").unwrap();
    std::fs::write(
        at("config.toml"),
        "[selvedge]\nconsole_password = \"env(SHOP_CONSOLE_PASSWORD)\"\n",
    )
    .unwrap();
    std::fs::write(at("secret"), "of the process\n").unwrap();
    let secret = at("secret").display().to_string();
    let variables = [("SELVEDGE_SERVICE_PASSWORD_FILE".to_owned(), secret)];
    let environment = Environment::load_elsewhere(&variables, folder.path(), "development").unwrap();
    let project = Project::find(Some(folder.path()), folder.path()).unwrap();

    let loaded = Config::load_project(project, environment, &Flags::default()).unwrap();

    let section = &loaded.config.selvedge;
    let service = section
        .service_password
        .as_ref()
        .map(|password| password.expose_secret());
    assert_eq!(service, Some("of the process"));
    assert!(section.console_password.is_none());
    let refused = &loaded.config.refused_keys;
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(
        refused[0].contains("selvedge.service_password has no effect"),
        "{refused:?}"
    );
    let unset = "the environment variable SHOP_CONSOLE_PASSWORD is not set; the key has no value";
    assert!(
        loaded.warnings.iter().any(|warning| warning.ends_with(unset)),
        "{:?}",
        loaded.warnings
    );
}

/// Values of the vault, of functions and of pages can be read by the project's authors.
#[test]
fn gw_012_a_file_of_the_project_reads_no_secret_of_whoever_runs_the_server() {
    let text = "[db.vault]\nstolen = \"env(DATABASE_URL)\"\nown = \"env(API_KEY)\"\n\
        [edge_runtime.secrets]\nSTOLEN = \"env(SELVEDGE_CONSOLE_PASSWORD)\"\n[selvedge]\nnotes = [\"env(POSTGRES_PASSWORD)\"]\n\
        database_url = \"env(DATABASE_URL)\"\n";
    let variables = [
        ("DATABASE_URL", "postgresql://dba:hunter2@db/app"),
        ("SELVEDGE_CONSOLE_PASSWORD", "hunter2"),
        ("POSTGRES_PASSWORD", "hunter2"),
        ("API_KEY", "key"),
    ];

    let loaded = load(text, variables).unwrap();

    let config = &loaded.config;
    let vault: Vec<&str> = config
        .db
        .vault
        .iter()
        .map(|(_, secret)| secret.expose_secret())
        .collect();
    assert_eq!(vault, ["env(DATABASE_URL)", "key"]);
    assert_eq!(
        config.functions.secrets[0].1.expose_secret(),
        "env(SELVEDGE_CONSOLE_PASSWORD)"
    );
    assert_eq!(config.selvedge.notes, ["env(POSTGRES_PASSWORD)"]);
    assert!(config.selvedge.is_database_of_process);
    assert_eq!(loaded.warnings.len(), 3, "{:?}", loaded.warnings);
    assert!(
        loaded.warnings[0].starts_with("config.toml:2: db.vault.stolen: env(DATABASE_URL) is not replaced"),
        "{:?}",
        loaded.warnings
    );
    // The authors know what they have written themselves.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.toml"), text).unwrap();
    std::fs::write(
        folder.path().join(".env"),
        "DATABASE_URL=postgresql://of-prisma/x\n",
    )
    .unwrap();
    let environment = Environment::load_elsewhere(&[], folder.path(), "development").unwrap();
    let project = Project::find(Some(folder.path()), folder.path()).unwrap();
    let own = Config::load_project(project, environment, &Flags::default())
        .unwrap()
        .config;
    assert_eq!(own.db.vault[0].1.expose_secret(), "postgresql://of-prisma/x");
}

#[test]
fn gw_012_passwords_of_the_process_go_to_no_address_that_a_file_of_the_project_names() {
    let load = |flags: &Flags, variables: &[(&str, &str)]| {
        let folder = tempfile::tempdir().unwrap();
        let text = "[selvedge]\ndatabase_url = \"postgresql://authenticator:own@evil/app\"\n";
        std::fs::write(folder.path().join("config.toml"), text).unwrap();
        let project = Project::find(Some(folder.path()), folder.path()).unwrap();
        let environment: Environment = variables.iter().copied().collect();
        Config::load_project(project, environment, flags).map_err(|error| error.0.join("\n"))
    };
    let counts = Flags {
        uses_database_of_files: true,
        ..Flags::default()
    };
    let password = ("SELVEDGE_POSTGRES_PASSWORD", "x");

    let refused = load(&counts, &[password]).unwrap_err();

    assert!(
        refused.contains(
            "config.toml:2: SELVEDGE_POSTGRES_PASSWORD of the environment would go to the database"
        ),
        "{refused}"
    );
    // The login in the address is sent there. Where the address does not count, nothing is sent.
    assert!(load(&counts, &[("A", "b")]).is_ok());
    assert!(load(&Flags::default(), &[password]).is_ok());
    let of_process = ("DATABASE_URL", "postgresql://authenticator:own@db/app");
    assert!(load(&counts, &[password, of_process]).is_ok());
    let named = Flags {
        database_url: Some("postgresql://authenticator:own@db/app".into()),
        ..counts
    };
    assert!(load(&named, &[password]).is_ok());
}
