//! The steps of `selvedge setup`, in their order: what they are is decided here, and nothing is done.

use std::path::Path;

use secrecy::SecretString;
use selvedge_doctor::LaptopValue;

use super::answers::Answers;
use super::files::{self, SMTP_PASSWORD};
use super::machine::Machine;
use super::places::{
    BACKUPS, COMMAND, CREDENTIALS, FOLDER, LOCAL_SETTINGS, POSTGRES_UNIT, PROGRAM, PROGRAMS, SERVER_UNIT,
    SETTINGS, TRUST, USER,
};
use super::process::Command;
use super::step::{Content, Owner, Step};

const UNITS: &str = "/etc/systemd/system";
const CLUSTER_SETTINGS: &str = "/etc/postgresql-common";

/// What is secret in a plan.
#[derive(Debug)]
pub(super) struct Secrets {
    /// Of the mail server, where it is given in this run.
    pub(super) mail: Option<SecretString>,
    /// Of the console's first account, if it is made.
    pub(super) account: SecretString,
}

/// Makes the plan.
pub(super) fn make_plan(
    answers: &Answers,
    machine: &Machine,
    settings: &[(String, String)],
    secrets: &Secrets,
) -> Vec<Step> {
    let mut steps = Vec::new();
    if !machine.has_postgresql {
        steps.extend(install_postgresql());
    }
    steps.push(Step::User(USER));
    steps.extend(make_folders(answers, machine));
    steps.extend(write_files(answers, machine, settings, secrets));
    steps.extend(write_units(answers, machine, secrets));
    // PostgreSQL goes on when a file has changed: people restart it at a quiet moment.
    for (unit, restarts) in [(POSTGRES_UNIT, false), (SERVER_UNIT, true)] {
        steps.push(Step::Service { unit, restarts });
    }
    // The account comes before the migrations, which may fail, so that there is a console to look into.
    steps.push(Step::Ready(answers.home.clone()));
    steps.push(Step::Account {
        name: answers.account.clone(),
        password: secrets.account.clone(),
    });
    if machine.has_migrations {
        steps.push(Step::Run(Command::new(&[COMMAND, "migrate", "up"])));
    }
    steps
}

/// PostgreSQL of the distribution, whose own cluster nobody needs.
fn install_postgresql() -> Vec<Step> {
    let folder = format!("{CLUSTER_SETTINGS}/createcluster.d");
    vec![
        make_folder(CLUSTER_SETTINGS, 0o755, Owner::Root),
        make_folder(&folder, 0o755, Owner::Root),
        write_file(
            &format!("{folder}/selvedge.conf"),
            Content::Text("# Selvedge makes a cluster of its own.\ncreate_main_cluster = false\n".to_owned()),
            0o644,
            Owner::Root,
        ),
        Step::Packages(vec!["postgresql", "ca-certificates"]),
    ]
}

fn make_folders(answers: &Answers, machine: &Machine) -> Vec<Step> {
    let mut steps = vec![make_folder(FOLDER, 0o755, Owner::Root)];
    let above = machine.missing.iter();
    steps.extend(above.map(|path| make_folder(path, 0o755, Owner::Root)));
    if !machine.has_project {
        steps.push(make_folder(&answers.project, 0o750, Owner::RootForServer));
    }
    steps.push(make_folder(&answers.home, 0o700, Owner::Server));
    steps.push(make_folder(BACKUPS, 0o700, Owner::Server));
    for path in [PROGRAMS, TRUST] {
        steps.push(Step::Folder {
            path: path.into(),
            mode: 0o755,
            owner: Owner::Server,
            is_disposable: true,
        });
    }
    steps
}

fn write_files(
    answers: &Answers,
    machine: &Machine,
    settings: &[(String, String)],
    secrets: &Secrets,
) -> Vec<Step> {
    let mut steps = Vec::new();
    if machine.program != Path::new(PROGRAM) {
        steps.push(write_file(
            PROGRAM,
            Content::ThisProgram(machine.program.clone()),
            0o755,
            Owner::Root,
        ));
    }
    let command = Content::Text(files::command(&answers.project));
    steps.push(write_file(COMMAND, command, 0o755, Owner::Root));
    for (path, content) in [
        (SETTINGS, Content::Text(files::variables(settings))),
        (LOCAL_SETTINGS, Content::Initial(files::local_variables())),
    ] {
        steps.push(write_file(path, content, 0o640, Owner::RootForServer));
    }
    if let Some(password) = &secrets.mail {
        steps.push(make_folder(CREDENTIALS, 0o700, Owner::Root));
        let path = format!("{CREDENTIALS}/{SMTP_PASSWORD}");
        steps.push(write_file(
            &path,
            Content::Secret(password.clone()),
            0o600,
            Owner::Root,
        ));
    }
    if machine.has_needrestart {
        let rule = "# Sessions of PostgreSQL end with it: it is restarted by people.\n\
             $nrconf{override_rc}->{qr(^selvedge-postgres\\.service$)} = 0;\n";
        let path = "/etc/needrestart/conf.d/selvedge.conf";
        let rule = Content::Text(rule.to_owned());
        steps.push(write_file(path, rule, 0o644, Owner::Root));
    }
    steps
}

fn write_units(answers: &Answers, machine: &Machine, secrets: &Secrets) -> Vec<Step> {
    let has_password = answers.mail.is_some() && (machine.has_password || secrets.mail.is_some());
    let units = [
        ("selvedge.slice", files::slice()),
        (POSTGRES_UNIT, files::postgres_unit(answers)),
        (SERVER_UNIT, files::server_unit(answers, has_password)),
    ];
    let write =
        |(name, unit): (&str, String)| write_file(&unit_file(name), Content::Text(unit), 0o644, Owner::Root);
    units.map(write).into()
}

/// Where a unit's file is.
pub(super) fn unit_file(unit: &str) -> String {
    format!("{UNITS}/{unit}")
}

fn make_folder(path: impl AsRef<Path>, mode: u32, owner: Owner) -> Step {
    Step::Folder {
        path: path.as_ref().to_owned(),
        mode,
        owner,
        is_disposable: false,
    }
}

fn write_file(path: &str, content: Content, mode: u32, owner: Owner) -> Step {
    Step::File {
        path: path.into(),
        content,
        mode,
        owner,
    }
}

/// The variables of the server: what was answered, and what replaces the settings of a laptop.
pub(super) fn list_settings(answers: &Answers, laptop: &[LaptopValue]) -> Vec<(String, String)> {
    let mut pairs = vec![
        ("SELVEDGE_DATA_DIR", answers.home.display().to_string()),
        ("SELVEDGE_STATE_HOME", TRUST.to_owned()),
        ("XDG_CACHE_HOME", PROGRAMS.to_owned()),
        ("SELVEDGE_CONSOLE_ENABLED", "true".to_owned()),
    ];
    if !answers.domains.is_empty() {
        pairs.push(("SELVEDGE_TLS_DOMAINS", answers.domains.join(",")));
    }
    if let Some(email) = answers.email.as_ref().filter(|_| !answers.domains.is_empty()) {
        pairs.push(("SELVEDGE_TLS_EMAIL", email.clone()));
    }
    if let Some(mail) = &answers.mail {
        pairs.push(("SUPABASE_AUTH_EMAIL_SMTP_ENABLED", "true".to_owned()));
        pairs.push(("SUPABASE_AUTH_EMAIL_SMTP_HOST", mail.host.clone()));
        pairs.push(("SUPABASE_AUTH_EMAIL_SMTP_PORT", mail.port.to_string()));
        pairs.push(("SUPABASE_AUTH_EMAIL_SMTP_ADMIN_EMAIL", mail.from.clone()));
        if let Some(user) = &mail.user {
            pairs.push(("SUPABASE_AUTH_EMAIL_SMTP_USER", user.clone()));
        }
    }
    let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value));
    let better = laptop
        .iter()
        .filter_map(|setting| Some((setting.variable(), setting.better.clone()?)));
    pairs.chain(better).collect()
}

#[cfg(test)]
mod tests {
    use super::super::answers::tests::answers;
    use super::super::undo::Undo;
    use super::*;

    fn machine() -> Machine {
        Machine {
            has_postgresql: false,
            has_project: false,
            has_migrations: false,
            has_password: false,
            has_needrestart: true,
            missing: vec!["/data".into()],
            program: "/root/selvedge".into(),
        }
    }

    fn secrets(mail: Option<&str>) -> Secrets {
        Secrets {
            mail: mail.map(|password| password.to_owned().into()),
            account: "of-the-console".to_owned().into(),
        }
    }

    /// What `--dry-run` prints.
    fn show(arguments: &[&str], mail: Option<&str>) -> String {
        let answers = answers(arguments).unwrap();
        let settings = list_settings(&answers, &[]);
        let steps = make_plan(&answers, &machine(), &settings, &secrets(mail));
        steps
            .iter()
            .map(|step| format!("{}\n{}\n", step.title(), step.details()))
            .collect()
    }

    #[test]
    fn prod_008_a_plan_names_every_file_and_command_and_no_secret() {
        let arguments = [
            "--domain",
            "a.example",
            "--domain",
            "b.example",
            "--smtp-url",
            "smtp://ana@mail.example",
        ];
        let shown = show(&arguments, Some("hunter2"));

        for expected in [
            "--no-install-recommends postgresql ca-certificates",
            "folder /data (0755 root:root)",
            "folder /srv/app (0750 root:selvedge)",
            "file /etc/selvedge/local.env (0640 root:selvedge)",
            "create_main_cluster = false",
            "user selvedge",
            "folder /var/lib/selvedge (0700 selvedge:selvedge)",
            "file /usr/local/bin/selvedge (0755 root:root)",
            "file /etc/selvedge/selvedge.env (0640 root:selvedge)",
            "SELVEDGE_TLS_DOMAINS=\"a.example,b.example\"",
            "SUPABASE_AUTH_EMAIL_SMTP_USER=\"ana\"",
            "file /etc/selvedge/credentials/SUPABASE_AUTH_EMAIL_SMTP_PASS (0600 root:root)",
            "LoadCredential=SUPABASE_AUTH_EMAIL_SMTP_PASS:/etc/selvedge/credentials/SUPABASE_AUTH_EMAIL_SMTP_PASS",
            "AmbientCapabilities=CAP_NET_BIND_SERVICE",
            "OOMScoreAdjust=-900",
            "StateDirectory=selvedge-programs",
            "systemctl enable --quiet selvedge-postgres.service",
            "systemctl restart selvedge.service",
            "systemctl start selvedge-postgres.service",
            "console user add admin --level admin",
            "needrestart",
        ] {
            assert!(shown.contains(expected), "{expected} is not in {shown}");
        }
        assert!(
            !shown.contains("hunter2") && !shown.contains("of-the-console"),
            "{shown}"
        );
        assert!(!shown.contains("migrate up"), "there are no migrations");
    }

    #[test]
    fn prod_008_without_a_domain_no_privilege_is_given() {
        let shown = show(&[], None);

        assert!(
            !shown.contains("AmbientCapabilities") && !shown.contains("LoadCredential"),
            "{shown}"
        );
        assert!(!shown.contains("SELVEDGE_TLS"), "{shown}");
    }

    #[test]
    fn prod_008_what_is_started_ends_first_and_the_data_folder_is_never_removed_with_its_data() {
        let answers = answers(&[]).unwrap();
        let machine = Machine {
            has_postgresql: true,
            ..machine()
        };
        let steps = make_plan(&answers, &machine, &[], &secrets(None));
        let undo: Vec<Undo> = steps
            .iter()
            .rev()
            .filter_map(|step| step.undo().unwrap())
            .collect();

        assert_eq!(undo[0], Undo::Service(SERVER_UNIT.to_owned()));
        assert_eq!(undo[1], Undo::Service(POSTGRES_UNIT.to_owned()));
        assert!(undo.contains(&Undo::Folder("/var/lib/selvedge".into())));
        assert!(undo.contains(&Undo::Tree(PROGRAMS.into())));
        let place = |wanted: &Undo| undo.iter().position(|found| found == wanted).unwrap();
        let unit = Undo::File(format!("{UNITS}/{SERVER_UNIT}").into());
        assert!(place(&unit) > 1 && place(&Undo::User(USER.to_owned())) > place(&unit));
    }
}
