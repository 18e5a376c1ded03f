//! Settings with which PostgreSQL does not start, and starts that take long.

use std::time::Duration;

use super::*;

fn settings_of(data_dir: &Path) -> String {
    std::fs::read_to_string(data_dir.join("selvedge.conf")).expect("written at each start")
}

#[tokio::test]
async fn prod_003_settings_with_which_postgresql_does_not_start_are_taken_back() {
    let project = Project::new();
    let mut cluster = project.start().await.expect("starts");
    let data_dir = cluster.data_dir().to_owned();
    let proven = settings_of(&data_dir);
    let mut broken = project.config.clone();
    broken
        .settings
        .insert("shared_preload_libraries".into(), "no_such_library".into());

    cluster
        .restart_with(broken.clone())
        .await
        .expect("it runs with the earlier ones");
    assert_eq!(settings_of(&data_dir), proven);
    assert_eq!(value(&superuser(&cluster).await, "1").await, "1");

    // Those that a running one has only read take effect when it is started again after a crash.
    cluster.reload_with(&broken).expect("written");
    assert_ne!(settings_of(&data_dir), proven);
    kill(Pid::from_raw(cluster.postmaster.pid()), Signal::SIGKILL).expect("it runs");
    cluster.wait_for_exit().await;
    cluster.restart().await.expect("it runs with the earlier ones");
    assert_eq!(settings_of(&data_dir), proven);
    assert_eq!(value(&superuser(&cluster).await, "1").await, "1");
    cluster.stop().await.expect("stops");

    let refused = Cluster::start(broken).await;
    assert!(matches!(refused, Err(ClusterError::Start { .. })), "{refused:?}");
    assert_eq!(settings_of(&data_dir), proven);
    project
        .start()
        .await
        .expect("starts")
        .stop()
        .await
        .expect("stops");
}

#[tokio::test]
async fn prod_003_a_start_has_no_deadline_and_ends_when_nobody_waits_for_it() {
    let project = Project::new();
    let cluster = project.start().await.expect("starts");
    let data_dir = cluster.data_dir().to_owned();
    cluster.stop().await.expect("stops");
    // A standby without a primary replays its log for ever.
    std::fs::write(data_dir.join("standby.signal"), "").expect("written");
    let mut config = project.config.clone();
    config.settings.insert("hot_standby".into(), "off".into());
    let pid_file = data_dir.join("postmaster.pid");

    {
        let start = Cluster::start(config);
        let is_replaying = async {
            while !pid_file.exists() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            started = start => panic!("it is no standby: {started:?}"),
            () = is_replaying => {}
        }
    }

    let deadline = Instant::now() + Duration::from_secs(60);
    while pid_file.exists()
        || Cluster::find_running(&project.config.state_dir)
            .expect("asked")
            .is_some()
    {
        assert!(Instant::now() < deadline, "PostgreSQL goes on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    std::fs::remove_file(data_dir.join("standby.signal")).expect("removed");
    project
        .start()
        .await
        .expect("starts")
        .stop()
        .await
        .expect("stops");
}
