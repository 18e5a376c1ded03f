-- The function that counts users belongs to a role that can do nothing else. It reads columns of auth.users, whose owner may give them types of its
-- own, with casts of its own, and so may `postgres`: as the superuser's function it ran these casts as a superuser. This file is for databases in
-- which an earlier edition of 0181_user_counts.sql has made the function.

do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'selvedge_user_counts') then
    create role selvedge_user_counts noinherit;
  end if;
  -- Not always: of two databases of a server that are upgraded at once, the second one would fail.
  if exists (
    select from pg_catalog.pg_authid as a
    where a.rolname = 'selvedge_user_counts' and (
      a.rolsuper or a.rolcanlogin or a.rolinherit or a.rolcreatedb or a.rolcreaterole or a.rolreplication or a.rolbypassrls
      or a.rolpassword is not null
    )
  ) then
    alter role selvedge_user_counts
      nosuperuser nologin noinherit nocreatedb nocreaterole noreplication nobypassrls password null;
  end if;
end
$$;

grant insert on _selvedge.user_counts to selvedge_user_counts;
grant select (corrections), update (triggers, corrections) on _selvedge.user_counts_state to selvedge_user_counts;

alter function _selvedge.count_changed_users() owner to selvedge_user_counts;
