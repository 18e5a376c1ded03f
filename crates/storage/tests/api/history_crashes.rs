//! Kills the server by SIGKILL at random moments while versions are written, restored, moved and removed: what was acknowledged is whole, an
//! interrupted operation has happened completely or not at all, each version has its bytes, and a sweep removes the rest.

use std::time::Duration;

use futures_util::future::{join, join_all};
use selvedge_storage::{SweepOptions, sweep};
use uuid::Uuid;

use crate::crashes::Server;
use crate::history_model::Player;
use crate::object_history::check_invariants;
use crate::support::{TestApp, serve};

/// Clients that work at the same time.
const CLIENTS: usize = 3;
/// How often the server is killed and started again.
const KILLS: usize = 5;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_228_no_version_is_lost_by_kill_9() {
    let app = TestApp::start().await;
    let mut players = Vec::new();
    for number in 0..CLIENTS {
        players.push(Player::new(&app, &format!("b{number}")).await);
    }

    for _ in 0..KILLS {
        let server = Server::start(&app.database, &app.store);
        let address = server.address.clone();
        let killer = async {
            // A random moment, so that over many runs each step of each operation is interrupted.
            let moment = 150 + (Uuid::new_v4().as_u128() % 350) as u64;
            tokio::time::sleep(Duration::from_millis(moment)).await;
            drop(server);
        };
        let work = players.iter_mut().map(|player| player.work(&address));
        join(killer, join_all(work)).await;

        let server = Server::start(&app.database, &app.store);
        for player in &mut players {
            player.settle(&server.address).await;
        }
        check_invariants(&app).await;
    }

    // Unfinished resumable uploads keep their bytes on purpose.
    app.sql("delete from storage.resumable_uploads").await;
    let running = serve(|role| app.database.config(role), app.store.config()).await;
    let at_once = SweepOptions {
        older_than: Duration::ZERO,
        remove_many: true,
        ..SweepOptions::default()
    };
    for _ in 0..2 {
        let report = sweep(&running.storage, &at_once)
            .await
            .expect("swept")
            .expect("alone");
        assert_eq!(report.lost, 0, "{report:?}");
    }
    let kept: usize = players.iter().map(|player| player.model.count_blobs()).sum();
    assert_eq!(
        app.store.blobs(),
        kept,
        "the bytes of each version, and no others"
    );
}
