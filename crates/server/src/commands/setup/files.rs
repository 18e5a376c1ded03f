//! The texts that `selvedge setup` writes: units, variables, and the command for people.

use std::fmt::Write as _;
use std::path::Path;

use super::answers::Answers;
use super::places::{BACKUPS, CREDENTIALS, LOCAL_SETTINGS, PROGRAM, PROGRAMS, SETTINGS, TRUST, USER};

/// The variable of the mail server's password, which is the name of its credential as well.
pub(super) const SMTP_PASSWORD: &str = "SUPABASE_AUTH_EMAIL_SMTP_PASS";

/// What keeps both units away from the rest of the machine.
const SANDBOX: &str = "\
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
PrivateTmp=yes
PrivateDevices=yes
DevicePolicy=closed
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictNamespaces=yes
RestrictSUIDSGID=yes
RestrictRealtime=yes
LockPersonality=yes
NoNewPrivileges=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
SystemCallArchitectures=native
SystemCallErrorNumber=EPERM
UMask=0077
";

/// The slice that both units are in. PostgreSQL and the server share the memory that it is limited to, for example by
/// `systemctl set-property selvedge.slice MemoryMax=4G`.
pub(super) fn slice() -> String {
    "[Unit]\nDescription=Selvedge and its PostgreSQL\n\n[Slice]\nMemoryAccounting=yes\nCPUAccounting=yes\n"
        .to_owned()
}

/// The unit of PostgreSQL, which goes on while the server is restarted.
pub(super) fn postgres_unit(answers: &Answers) -> String {
    let (head, common) = (describe_mounts(answers), describe_service(answers));
    format!(
        "\
[Unit]
Description=PostgreSQL of Selvedge
{head}
[Service]
ExecStart={PROGRAM} cluster run --project {project} --data-dir {home}
{common}# A stop lets PostgreSQL write its last checkpoint; the keeper alone is asked, and ends it.
KillMode=mixed
TimeoutStopSec=120
# Where memory is short, a session ends and not the database.
OOMScoreAdjust=-900
OOMPolicy=continue
Environment=PG_OOM_ADJUST_FILE=/proc/self/oom_score_adj PG_OOM_ADJUST_VALUE=0
CapabilityBoundingSet=
SystemCallFilter=@system-service
SystemCallFilter=~@privileged

[Install]
WantedBy=multi-user.target
",
        project = answers.project.display(),
        home = answers.home.display(),
    )
}

/// The unit of the server. `has_password` says that the mail server's password is among the credentials.
pub(super) fn server_unit(answers: &Answers, has_password: bool) -> String {
    let (head, common) = (describe_mounts(answers), describe_service(answers));
    let credential = match has_password {
        true => format!("LoadCredential={SMTP_PASSWORD}:{CREDENTIALS}/{SMTP_PASSWORD}\n"),
        false => String::new(),
    };
    // Ports below 1024 need a privilege.
    let capability = match answers.domains.is_empty() {
        true => "CapabilityBoundingSet=\n",
        false => "CapabilityBoundingSet=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n",
    };
    format!(
        "\
[Unit]
Description=Selvedge
Wants=selvedge-postgres.service network-online.target
After=selvedge-postgres.service network-online.target
{head}
[Service]
# It says so when it serves, which takes as long as PostgreSQL's recovery after a crash.
Type=notify
TimeoutStartSec=infinity
ExecStart={PROGRAM} serve --project {project} --data-dir {home}
# A new process takes its place without a failed request, with the program and the variables of that moment.
ExecReload={PROGRAM} restart --environment --project {project} --data-dir {home}
{credential}{common}Environment=MIMALLOC_PURGE_DELAY=100
# Longer than drain_delay, the closing of the sockets and shutdown_timeout together.
TimeoutStopSec=60
# A worker of functions that takes too much ends alone.
OOMPolicy=continue
{capability}# @resources stays: threads that hash passwords lower their own priority. capset: workers of edge functions are started by setpriv.
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallFilter=capset

[Install]
WantedBy=multi-user.target
",
        project = answers.project.display(),
        home = answers.home.display(),
    )
}

/// The lines of `[Unit]` that both units have.
fn describe_mounts(answers: &Answers) -> String {
    let (home, project) = (answers.home.display(), answers.project.display());
    format!(
        "# Without its disk nothing is started: an empty folder would become a new database.\nRequiresMountsFor={home} {project}\n"
    )
}

/// The lines of `[Service]` that both units have.
fn describe_service(answers: &Answers) -> String {
    let home = answers.home.display();
    format!(
        "User={USER}\nGroup={USER}\nSlice=selvedge.slice\nEnvironmentFile={SETTINGS}\nEnvironmentFile=-{LOCAL_SETTINGS}\n\
         WorkingDirectory={home}\nReadWritePaths={home} {TRUST}\n\
         # {PROGRAMS}, for copies of PostgreSQL's programs: made again where somebody has removed it.\n\
         StateDirectory=selvedge-programs\nStateDirectoryMode=0755\nRestart=on-failure\nRestartSec=2\nLimitNOFILE=65536\n{SANDBOX}"
    )
}

/// The command by which people reach the server of this machine. The shell reads these lines alone.
pub(super) fn command(project: &Path) -> String {
    format!(
        "\
#!/bin/sh
# Runs a command of selvedge on this machine's server: as its user, with the settings of {SETTINGS} and {LOCAL_SETTINGS},
# and in the folder {BACKUPS}.
exec {PROGRAM} as-server --project {project} -- \"$@\"
",
        project = project.display()
    )
}

/// What the file of people's settings has before they write into it.
pub(super) fn local_variables() -> String {
    format!(
        "# Settings of your own, as NAME=\"value\". They win over those of {SETTINGS}, and count after:  systemctl reload selvedge\n"
    )
}

/// Variables as systemd reads them. The values were checked by [`Answers`].
pub(super) fn variables(pairs: &[(String, String)]) -> String {
    let mut text = format!(
        "# Written by `selvedge setup`, and again at each run: settings of your own belong into {LOCAL_SETTINGS}, which wins.\n"
    );
    for (name, value) in pairs {
        let _ = writeln!(text, "{name}=\"{value}\"");
    }
    text
}
