//! The list of all lints, each with its severity and the texts that all its findings share.

use crate::finding::Level;

/// A lint, whose query returns one row for each finding.
pub(crate) struct Lint {
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    pub(crate) title: &'static str,
    /// The sentence about the consequence of a finding, shown after the sentence about the object.
    pub(crate) why: &'static str,
    /// The query, which may use the common table expressions of [`SHARED_SQL`]. It returns schema, name and kind of the
    /// object, the part of it that is at fault, a sentence and a fix.
    pub(crate) sql: &'static str,
}

/// Common table expressions that the queries of all lints use.
pub(crate) const SHARED_SQL: &str = include_str!("sql/shared.sql");

/// Makes a lint from its SQL file.
macro_rules! lint {
    ($name:literal, $level:ident, $title:literal, $why:literal) => {
        Lint {
            name: $name,
            level: Level::$level,
            title: $title,
            why: $why,
            sql: include_str!(concat!("sql/", $name, ".sql")),
        }
    };
}

/// All lints, the most important ones first.
pub(crate) const LINTS: &[Lint] = &[
    // These lints find data that strangers can read or change now.
    lint!(
        "auth_users_exposed",
        Error,
        "Users are exposed by a view",
        "Whoever may read the view reads the accounts of all users."
    ),
    lint!(
        "rls_disabled_in_public",
        Error,
        "Row-level security is off",
        "Everybody with the public key can read the table, or whatever its privileges allow."
    ),
    lint!(
        "policy_exists_rls_disabled",
        Error,
        "Policies without effect",
        "PostgreSQL ignores policies until row-level security is enabled."
    ),
    lint!(
        "security_definer_view",
        Error,
        "A view that ignores policies",
        "Policies of the tables below do not count for whoever reads it."
    ),
    lint!(
        "rls_references_user_metadata",
        Error,
        "A policy trusts what users write",
        "Users change their own user_metadata, so they can give themselves what the policy grants."
    ),
    lint!(
        "insecure_queue_exposed_in_api",
        Error,
        "A queue without policies",
        "Whoever may call the exposed functions of queues can read and change its messages."
    ),
    lint!(
        "sensitive_columns_exposed",
        Error,
        "Columns that look secret are exposed",
        "Their names suggest passwords, numbers of documents or other data that must not be public."
    ),
    // These lints find what is about to fail: an update of auth, inserts, or all writes.
    lint!(
        "fkey_to_auth_unique",
        Error,
        "A foreign key into auth that is no primary key",
        "Unique constraints of auth other than primary keys may go with an update, which the foreign key would block."
    ),
    lint!(
        "sequence_near_end",
        Error,
        "A sequence is near its end",
        "When it is used up, every insert that needs a number from it fails."
    ),
    lint!(
        "transaction_wraparound",
        Error,
        "Transaction numbers run out",
        "At two thousand million PostgreSQL refuses all writes until the table has been vacuumed."
    ),
    // These lints find policies and indexes that cost more than they need to.
    lint!(
        "auth_rls_initplan",
        Warn,
        "A policy asks for the caller once per row",
        "Inside of a subquery, as (select auth.uid()), the function is called once per statement, which is much faster."
    ),
    lint!(
        "multiple_permissive_policies",
        Warn,
        "Several permissive policies for one command",
        "PostgreSQL evaluates all of them for each row until one passes; one policy with OR is faster and easier to read."
    ),
    lint!(
        "duplicate_index",
        Warn,
        "Two indexes do the same",
        "Each write maintains both, and only one is ever used."
    ),
    // Lints about privileges: data that another role can read or change, or that is exposed unintentionally.
    lint!(
        "function_search_path_mutable",
        Warn,
        "A function without a search path",
        "Whoever may create objects in a schema of the caller's search path can make it run theirs instead."
    ),
    lint!(
        "extension_in_public",
        Warn,
        "An extension in the schema public",
        "Its functions are exposed by the API there, and its objects mix with the project's."
    ),
    lint!(
        "materialized_view_in_api",
        Warn,
        "A materialized view is exposed",
        "Materialized views have no policies, so the privileges alone decide who reads them."
    ),
    lint!(
        "foreign_table_in_api",
        Warn,
        "A foreign table is exposed",
        "Foreign tables have no policies, so the privileges alone decide who reads them."
    ),
    // These lints find what makes an upgrade of PostgreSQL or of an extension fail.
    lint!(
        "unsupported_reg_types",
        Warn,
        "A column of a type that holds object numbers",
        "An upgrade of PostgreSQL by pg_upgrade refuses such columns, because the numbers change."
    ),
    lint!(
        "extension_versions_outdated",
        Warn,
        "An extension has a newer version",
        "The newer version is on this machine already."
    ),
    lint!(
        "rls_policy_always_true",
        Warn,
        "A policy lets everything pass",
        "Every caller with one of its roles may write any row."
    ),
    lint!(
        "public_bucket_allows_listing",
        Warn,
        "The files of a public bucket can be listed",
        "Files of a public bucket are read by their URL without any policy; the policy only lets callers list them all."
    ),
    lint!(
        "pg_graphql_anon_table_exposed",
        Warn,
        "GraphQL shows the table to anon",
        "Names of tables and columns are seen by introspection, whatever policies say about rows."
    ),
    lint!(
        "pg_graphql_authenticated_table_exposed",
        Warn,
        "GraphQL shows the table to authenticated",
        "Names of tables and columns are seen by introspection, whatever policies say about rows."
    ),
    lint!(
        "anon_security_definer_function_executable",
        Warn,
        "anon may call a function with its owner's rights",
        "The function is called through the API under the rights of its owner, for whom policies do not count."
    ),
    lint!(
        "authenticated_security_definer_function_executable",
        Warn,
        "authenticated may call a function with its owner's rights",
        "The function is called through the API under the rights of its owner, for whom policies do not count."
    ),
    // The slot of a subscriber that no longer connects keeps WAL until the disk is full.
    lint!(
        "idle_replication_slot",
        Warn,
        "A replication slot that nobody reads",
        "It keeps all write-ahead log since its last use, until the disk is full."
    ),
    // These lints find what is worth a look, but often right as it is.
    lint!(
        "unindexed_foreign_keys",
        Info,
        "A foreign key without an index",
        "Deleting or changing a referenced row reads the whole table, and so do joins on it."
    ),
    lint!(
        "no_primary_key",
        Info,
        "A table without a primary key",
        "Rows cannot be addressed, changes of it cannot be replicated, and an upsert has nothing to meet."
    ),
    lint!(
        "unused_index",
        Info,
        "An index that was never used",
        "Each write maintains it. Statistics may be young, so look at how long they have been kept."
    ),
    lint!(
        "rls_enabled_no_policy",
        Info,
        "Row-level security without a policy",
        "Nobody but roles that bypass policies can read or write a row."
    ),
    lint!(
        "auth_allow_anonymous_sign_ins",
        Info,
        "A policy also lets anonymous users pass",
        "Anonymous users have the role authenticated; the claim is_anonymous tells them apart."
    ),
    lint!(
        "table_bloat",
        Info,
        "A table with much empty space",
        "Reads and backups go through pages that hold no rows any more."
    ),
];
