-- Users of the project who may sign in to the console are read by the login of Auth's owner (crates/console/src/session/member_lookup.rs). The
-- functions that did so ran in a session of the console. An index of the project on Auth's tables runs code there, which may leave some for the end
-- of the transaction (a cursor WITH HOLD, a deferred trigger), and PostgreSQL runs that with the rights of the session and not of the function's owner.
-- The console of a node that runs the version before this file refuses every session until that node is replaced, as it asks one of them for each.
--
-- CASCADE: a view of the project that names one of them must not keep the others from being dropped. On PostgreSQL 15 `postgres` could become their
-- owner, and make them members of an extension of its own, which then requires them: that is undone first.
delete from pg_catalog.pg_depend as d
where d.classid operator(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass and d.deptype operator(pg_catalog.=) 'e'
  and d.refclassid operator(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
  and d.objid operator(pg_catalog.=) any (array[
    pg_catalog.to_regprocedure('selvedge_console.find_project_member(uuid)'),
    pg_catalog.to_regprocedure('selvedge_console.list_project_members()'),
    pg_catalog.to_regprocedure('selvedge_console.has_auth_session(uuid, uuid)'),
    pg_catalog.to_regprocedure('selvedge_console.end_auth_session(uuid)')
  ]::pg_catalog.oid[]);
drop function if exists selvedge_console.find_project_member(uuid) cascade;
drop function if exists selvedge_console.list_project_members() cascade;
drop function if exists selvedge_console.has_auth_session(uuid, uuid) cascade;
drop function if exists selvedge_console.end_auth_session(uuid) cascade;

-- Their owner is the whole server's, where databases of an earlier version may need it. In this one it has no rights any more.
revoke all on auth.users, auth.mfa_factors, auth.sessions from selvedge_console_members;
revoke all on selvedge_console.selvedge_sessions from selvedge_console_members;
revoke all on schema auth, selvedge_console from selvedge_console_members;
