//! Starts, stops, kills and recovers real clusters. Each test has a new project folder.

use std::{net::TcpListener, os::unix::fs::PermissionsExt, time::Instant};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio_postgres::{Client, NoTls};

use super::*;

mod disk;
mod starts;
mod upgrade;

/// A project folder that another user can reach, and a free port.
struct Project {
    folder: tempfile::TempDir,
    config: ClusterConfig,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("selvedge-cluster-")
            .tempdir_in(selvedge_testing::temporary_folder())
            .expect("a folder");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("ours");
        let mut config = ClusterConfig::for_project(folder.path());
        config.pg_bin = std::env::var_os("SELVEDGE_TEST_PG_BIN").map(PathBuf::from);
        config.port = free_port();
        config.service_ports = vec![54_321];
        Self { folder, config }
    }

    async fn start(&self) -> Result<Cluster, ClusterError> {
        Cluster::start(self.config.clone()).await
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("bound").port()
}

async fn connect(config: tokio_postgres::Config) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(async move {
        connection.await.ok();
    });
    Ok(client)
}

fn superuser_config(cluster: &Cluster) -> tokio_postgres::Config {
    cluster
        .access()
        .config_for(SUPERUSER, &cluster.superuser_password)
}

async fn superuser(cluster: &Cluster) -> Client {
    connect(superuser_config(cluster))
        .await
        .expect("accepts connections")
}

async fn value(client: &Client, sql: &str) -> String {
    client
        .query_one(&format!("select ({sql})::text"), &[])
        .await
        .expect("a value")
        .get(0)
}

/// Simulates `kill -9` of the server: the lock is released, but the postmaster keeps running. Returns its pid.
fn abandon(cluster: Cluster) -> i32 {
    let Cluster { postmaster, .. } = cluster;
    let pid = postmaster.pid();
    std::mem::forget(postmaster);
    pid
}

#[tokio::test]
async fn gw_017_first_start_creates_a_cluster_with_supabase_settings_and_keeps_its_data() {
    let project = Project::new();

    let first = Instant::now();
    let cluster = project.start().await.expect("starts");
    println!("first start: {:?}", first.elapsed());
    assert!(cluster.is_new());
    let client = superuser(&cluster).await;
    for (setting, expected) in [
        ("wal_level", "logical"),
        ("max_wal_senders", "10"),
        ("max_replication_slots", "5"),
        ("max_slot_wal_keep_size", "4GB"),
        ("TimeZone", "UTC"),
        ("fsync", "on"),
        ("server_encoding", "UTF8"),
        ("listen_addresses", "127.0.0.1"),
        (
            "data_checksums",
            if cluster.binaries().major_version() >= 18 {
                "on"
            } else {
                "off"
            },
        ),
    ] {
        assert_eq!(
            value(&client, &format!("current_setting('{setting}')")).await,
            expected,
            "{setting}"
        );
    }
    assert_eq!(
        value(&client, "'Ä' ~ '[[:alpha:]]'").await,
        "true",
        "letters beyond ASCII are letters"
    );
    assert_eq!(
        value(&client, "'B' < 'a'").await,
        "true",
        "text sorts by code point"
    );
    client
        .batch_execute("create table kept as select 42 as answer")
        .await
        .expect("created");
    cluster.stop().await.expect("stops");

    let later = Instant::now();
    let cluster = project.start().await.expect("starts again");
    println!("later start: {:?}", later.elapsed());
    assert!(!cluster.is_new());
    assert_eq!(
        value(&superuser(&cluster).await, "select answer from kept").await,
        "42"
    );
}

#[tokio::test]
async fn a_second_start_in_the_same_project_reports_the_running_process() {
    let project = Project::new();
    let cluster = project.start().await.expect("starts");

    let error = project.start().await.expect_err("it runs").to_string();
    let holder = Cluster::find_running(&project.config.state_dir)
        .expect("readable")
        .expect("held");
    cluster.stop().await.expect("stops");

    assert!(
        error.contains(&format!("process {}", std::process::id())),
        "{error}"
    );
    assert!(
        error.contains(&format!("on ports 54321, {}", project.config.port)),
        "{error}"
    );
    assert_eq!(holder.shown_database_port(), project.config.port);
    assert_eq!(
        Cluster::find_running(&project.config.state_dir).expect("readable"),
        None
    );
}

#[tokio::test]
async fn a_start_after_a_killed_server_ends_the_old_postmaster_and_keeps_all_rows() {
    let project = Project::new();
    let cluster = project.start().await.expect("starts");
    let client = superuser(&cluster).await;
    client
        .batch_execute("create table t (id int); insert into t select generate_series(1, 1000)")
        .await
        .expect("written");
    let leftover = abandon(cluster);

    let cluster = project.start().await.expect("starts");

    assert_ne!(cluster.postmaster.pid(), leftover);
    assert_eq!(
        value(&superuser(&cluster).await, "select count(*) from t").await,
        "1000"
    );
}

#[tokio::test]
async fn a_start_after_a_killed_postmaster_recovers_committed_rows() {
    let project = Project::new();
    let cluster = project.start().await.expect("starts");
    let client = superuser(&cluster).await;
    client
        .batch_execute("create table t (id int); insert into t select generate_series(1, 1000)")
        .await
        .expect("written");
    kill(Pid::from_raw(abandon(cluster)), Signal::SIGKILL).expect("ours");

    let cluster = project.start().await.expect("recovers");

    assert_eq!(
        value(&superuser(&cluster).await, "select count(*) from t").await,
        "1000"
    );
}

#[tokio::test]
async fn starts_although_a_stale_pid_file_names_another_process() {
    let project = Project::new();
    let cluster = project.start().await.expect("starts");
    let data_dir = cluster.data_dir().to_owned();
    kill(Pid::from_raw(abandon(cluster)), Signal::SIGKILL).expect("ours");
    let owner = Owner::for_this_process().expect("a user");
    let mut stranger = owner
        .command(Path::new("sleep"))
        .arg("60")
        .spawn()
        .expect("sleep exists");
    let pid_file = data_dir.join("postmaster.pid");
    let text = std::fs::read_to_string(&pid_file).expect("left behind");
    let (_, rest) = text.split_once('\n').expect("several lines");
    std::fs::write(&pid_file, format!("{}\n{rest}", stranger.id())).expect("ours");

    let started = project.start().await;
    stranger.kill().and_then(|()| stranger.wait()).expect("ours");

    assert!(
        superuser(&started.expect("starts"))
            .await
            .simple_query("select 1")
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn gw_031_start_reports_a_taken_port() {
    let project = Project::new();
    let _other = TcpListener::bind(("127.0.0.1", project.config.port)).expect("free");

    let error = project.start().await.expect_err("taken");

    assert!(
        matches!(error, ClusterError::PortTaken { port } if port == project.config.port),
        "{error}"
    );
}

#[tokio::test]
async fn gw_028_start_reports_the_log_line_of_an_invalid_setting() {
    let mut project = Project::new();
    project
        .config
        .settings
        .insert("max_connections".into(), "many".into());

    let error = project.start().await.expect_err("no number").to_string();

    assert!(
        error.contains("max_connections") && error.contains("many"),
        "{error}"
    );
}

#[tokio::test]
async fn sets_a_new_superuser_password_when_its_file_is_missing() {
    let project = Project::new();
    project
        .start()
        .await
        .expect("starts")
        .stop()
        .await
        .expect("stops");
    std::fs::remove_file(project.config.state_dir.join("superuser-password")).expect("it was there");

    let cluster = project.start().await.expect("starts");

    assert!(superuser(&cluster).await.simple_query("select 1").await.is_ok());
}

#[tokio::test]
async fn sets_the_configured_superuser_password_on_existing_data() {
    let mut project = Project::new();
    project
        .start()
        .await
        .expect("starts")
        .stop()
        .await
        .expect("stops");
    project.config.superuser_password = Some("chosen by the project".to_owned().into());

    let cluster = project.start().await.expect("starts");

    assert!(superuser(&cluster).await.simple_query("select 1").await.is_ok());
    let kept = std::fs::read_to_string(project.config.state_dir.join("superuser-password"));
    assert_eq!(kept.expect("the file"), "chosen by the project");
}

#[tokio::test]
async fn refuses_a_wrong_password_on_socket_and_tcp() {
    let project = Project::new();
    let cluster = project.start().await.expect("starts");

    for host in ["socket", "loopback"] {
        let mut config = superuser_config(&cluster);
        if host == "loopback" {
            config = tokio_postgres::Config::new();
            config
                .host("127.0.0.1")
                .port(cluster.port())
                .user(SUPERUSER)
                .dbname(DATABASE);
        }
        config.password("wrong");
        let error = connect(config).await.expect_err("wrong password");
        assert_eq!(error.code().map(|code| code.code()), Some("28P01"), "{host}");
    }
    let mode = project
        .config
        .state_dir
        .join("superuser-password")
        .metadata()
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o077, 0, "only its owner may read the password");
}

#[tokio::test]
async fn start_replaces_the_folder_of_an_interrupted_initdb() {
    let project = Project::new();
    let unfinished = project.config.state_dir.join("pgdata.unfinished");
    std::fs::create_dir_all(unfinished.join("base")).expect("ours");
    std::fs::write(unfinished.join("PG_VERSION"), "1").expect("ours");

    let cluster = project.start().await.expect("starts");

    assert!(cluster.is_new());
    assert!(!unfinished.exists());
}

#[tokio::test]
async fn data_is_kept_elsewhere_when_the_cluster_user_cannot_enter_the_project() {
    let project = Project::new();
    std::fs::set_permissions(project.folder.path(), std::fs::Permissions::from_mode(0o700)).expect("ours");

    let cluster = project.start().await.expect("starts");
    let data_dir = cluster.data_dir().to_owned();
    cluster.stop().await.expect("stops");
    let again = project.start().await.expect("starts again");
    assert_eq!(again.data_dir(), data_dir);
    drop(again);
    let state_dir = &project.config.state_dir;
    let lock = ProjectLock::acquire(state_dir, &LockPurpose::command("reset"), &[]).expect("free");
    Cluster::delete_data(&lock).expect("deleted");

    assert!(!data_dir.exists());
    if nix::unistd::geteuid().is_root() {
        assert!(
            data_dir.starts_with("/var/lib/selvedge-dev"),
            "{}",
            data_dir.display()
        );
        std::fs::remove_dir_all(data_dir.parent().expect("below the home")).expect("ours");
    } else {
        assert!(data_dir.starts_with(project.folder.path()));
    }
}

#[tokio::test]
async fn starts_in_a_project_whose_path_is_too_long_for_a_socket() {
    let mut project = Project::new();
    let long = project.folder.path().join("x".repeat(120));
    std::fs::create_dir(&long).expect("ours");
    project.config.project_dir.clone_from(&long);
    project.config.state_dir = long.join(".selvedge");

    let cluster = project.start().await.expect("starts");

    assert!(superuser(&cluster).await.simple_query("select 1").await.is_ok());
    let socket_dir = cluster.socket_folder.path().to_owned();
    drop(cluster);
    std::fs::remove_dir_all(socket_dir).expect("ours");
}

#[tokio::test]
async fn wait_for_exit_returns_when_postgresql_ends() {
    let project = Project::new();
    let mut cluster = project.start().await.expect("starts");
    kill(Pid::from_raw(cluster.postmaster.pid()), Signal::SIGQUIT).expect("ours");

    let how = tokio::time::timeout(Duration::from_secs(60), cluster.wait_for_exit())
        .await
        .expect("noticed");

    assert!(how.contains("ended"), "{how}");
}

async fn find_running(state_dir: &Path) -> Result<Option<RunningCluster>, ClusterError> {
    RunningCluster::find(state_dir).await
}

/// The lock of a project that names the socket of another one's cluster, as after a folder was copied.
fn point_lock_to(project: &Project, other: &Cluster) {
    let path = project.config.state_dir.join("lock");
    let text = std::fs::read_to_string(&path).expect("readable");
    let mut lock: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    lock["endpoint"] = serde_json::json!({ "socket_dir": other.socket_folder.path(), "port": other.port });
    std::fs::write(&path, lock.to_string()).expect("written");
}

#[tokio::test]
async fn a_running_cluster_is_reached_by_its_socket_and_no_other_one_is_taken_for_it() {
    let [mut project, mut other, mut copy] = [(); 3].map(|()| Project::new());
    for project in [&mut project, &mut other, &mut copy] {
        project.config.superuser_password = Some("the same everywhere".into());
    }
    let state_dir = project.config.state_dir.clone();
    project
        .start()
        .await
        .expect("starts")
        .stop()
        .await
        .expect("stops");
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([&state_dir, &copy.config.state_dir])
        .status();
    assert!(copied.expect("cp runs").success());
    let cluster = project.start().await.expect("starts");

    let running = find_running(&state_dir).await.expect("compared").expect("runs");
    let client = running.superuser_login().connect().await.expect("a login");
    assert_eq!(value(&client, "inet_server_port() is null").await, "true");
    for stranger in [&other, &copy] {
        let stranger = stranger.start().await.expect("starts");
        point_lock_to(&project, &stranger);
        let refused = find_running(&state_dir).await;
        assert!(
            matches!(refused, Err(ClusterError::OtherServer { .. })),
            "{refused:?}"
        );
    }
    cluster.stop().await.expect("stops");
    assert!(find_running(&state_dir).await.expect("free").is_none());
}

#[tokio::test]
async fn the_cluster_of_a_command_is_not_reached_by_others() {
    let mut project = Project::new();
    project.config.purpose = LockPurpose::command("backup");
    let _cluster = project.start().await.expect("starts");

    let error = find_running(&project.config.state_dir).await.expect_err("busy");

    assert!(error.to_string().starts_with("busy: backup runs"), "{error}");
}

#[tokio::test]
async fn a_project_whose_data_are_gone_is_refused_and_keeps_its_password() {
    let project = Project::new();
    let cluster = project.start().await.expect("starts");
    let data_dir = cluster.data_dir().to_owned();
    cluster.stop().await.expect("stops");
    let password = project.config.state_dir.join("superuser-password");
    let kept = std::fs::read_to_string(&password).expect("readable");
    let unmounted = data_dir.with_extension("elsewhere");
    std::fs::rename(&data_dir, &unmounted).expect("ours");

    let error = project.start().await.expect_err("there is no data");
    assert!(matches!(error, ClusterError::DataMissing { .. }), "{error}");
    // An empty mount point is no data either.
    std::fs::create_dir(&data_dir).expect("ours");
    assert!(project.start().await.is_err());
    std::fs::remove_dir(&data_dir).expect("still empty");
    std::fs::rename(&unmounted, &data_dir).expect("ours");

    project.start().await.expect("starts with its data");
    assert_eq!(std::fs::read_to_string(&password).expect("readable"), kept);
}

#[tokio::test]
async fn a_password_file_of_another_database_is_repaired() {
    let project = Project::new();
    let cluster = project.start().await.expect("starts");
    superuser(&cluster)
        .await
        .batch_execute("create table kept as select 42 as answer")
        .await
        .expect("created");
    cluster.stop().await.expect("stops");
    std::fs::write(
        project.config.state_dir.join("superuser-password"),
        "of another database",
    )
    .expect("ours");

    let cluster = project.start().await.expect("starts");

    assert_eq!(
        value(&superuser(&cluster).await, "select answer from kept").await,
        "42"
    );
}

#[tokio::test]
async fn a_reset_that_was_killed_while_it_deleted_is_completed_by_the_next_start() {
    let project = Project::new();
    let cluster = project.start().await.expect("starts");
    let data_dir = cluster.data_dir().to_owned();
    cluster.stop().await.expect("stops");
    // As after the first step of the deletion.
    std::fs::rename(&data_dir, data_dir.with_file_name("pgdata.unfinished-deleted")).expect("ours");

    let cluster = project.start().await.expect("starts");

    assert!(cluster.is_new());
    assert!(!data_dir.with_file_name("pgdata.unfinished-deleted").exists());
}
