//! The access matrix on a real PostgreSQL.

use selvedge_policies::load_access_matrix;
use serde_json::json;

use crate::project::Project;

#[tokio::test]
async fn console_080_the_access_matrix_tells_none_policy_and_all_apart() {
    let project = Project::start(
        "create table open_table (id int); grant all on open_table to anon, authenticated, service_role;
         create table guarded (id int); grant all on guarded to anon, authenticated, service_role;
         alter table guarded enable row level security;
         create policy p on guarded for select to authenticated using (true);
         create table closed (id int); revoke all on closed from anon;",
    )
    .await;

    let matrix = load_access_matrix(&project.owner).await.unwrap();

    let matrix = serde_json::to_value(matrix).unwrap();
    let cells = |name: &str, role: &str| {
        let tables = matrix["tables"].as_array().unwrap();
        let table = tables.iter().find(|table| table["name"] == name).unwrap();
        table["cells"][role].clone()
    };
    let all = json!({"select": "all", "insert": "all", "update": "all", "delete": "all"});
    let none = json!({"select": "none", "insert": "none", "update": "none", "delete": "none"});
    assert_eq!(cells("open_table", "anon"), all);
    assert_eq!(cells("guarded", "service_role"), all);
    assert_eq!(cells("guarded", "anon"), none);
    assert_eq!(cells("closed", "anon"), none);
    let read = json!({"select": "policy", "insert": "none", "update": "none", "delete": "none"});
    assert_eq!(cells("guarded", "authenticated"), read);
}
