//! Starts, stops, kills and recovers real clusters. Each test has a new project folder.

use std::{net::TcpListener, os::unix::fs::PermissionsExt, time::Instant};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio_postgres::{Client, NoTls};

use super::*;

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

async fn superuser(cluster: &Cluster) -> Client {
    connect(cluster.superuser_config())
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
    assert_eq!(holder.database_port, project.config.port);
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
        let mut config = cluster.superuser_config();
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
    Cluster::delete_data(&project.config.state_dir).expect("deleted");

    assert!(!data_dir.exists());
    if nix::unistd::geteuid().is_root() {
        assert!(
            data_dir.starts_with("/var/lib/selvedge"),
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
    let socket_dir = cluster.socket_dir.clone();
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
