-- The console's sessions of project users end with their session at Auth: a new password, a global sign-out and an administrator who
-- ends all sessions of a user end those of the console as well.

alter table selvedge_console.sessions add column auth_session uuid;
comment on column selvedge_console.sessions.auth_session is 'The session at Auth that a project user''s sign-in has made.';

grant select (id, user_id), delete on auth.sessions to selvedge_console_members;
grant usage on schema selvedge_console to selvedge_console_members;
grant select (auth_session, user_id) on selvedge_console.sessions to selvedge_console_members;

-- Whether the session at Auth still exists. Asked at each request of the console.
create function selvedge_console.has_auth_session(user_id uuid, session_id uuid) returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
begin atomic
  select exists (
    select from auth.sessions s
    where s.id operator(pg_catalog.=) has_auth_session.session_id and s.user_id operator(pg_catalog.=) has_auth_session.user_id
  );
end;

-- Ends the session at Auth of a sign-in to the console, when somebody signs out there. No other session can be named.
create function selvedge_console.end_auth_session(session_id uuid) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
begin atomic
  delete from auth.sessions s
  using selvedge_console.sessions c
  where s.id operator(pg_catalog.=) end_auth_session.session_id and c.auth_session operator(pg_catalog.=) s.id
    and c.user_id operator(pg_catalog.=) s.user_id;
end;

alter function selvedge_console.has_auth_session(uuid, uuid) owner to selvedge_console_members;
alter function selvedge_console.end_auth_session(uuid) owner to selvedge_console_members;
revoke execute on function selvedge_console.has_auth_session(uuid, uuid), selvedge_console.end_auth_session(uuid) from public;
grant execute on function selvedge_console.has_auth_session(uuid, uuid), selvedge_console.end_auth_session(uuid)
  to selvedge_console_service;
