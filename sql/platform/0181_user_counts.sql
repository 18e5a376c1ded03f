-- How many users there are, by audience and day of their creation. The list of users tells their exact number and skips to any page, which
-- took a quarter of a second with a million users, most of it for counting them.
--
-- Each statement on auth.users adds rows of what it has changed, so that two sign-ups do not wait for each other. Auth's clean-up sums them
-- up, and compares them with the table: triggers do not see what arrives by logical replication, or while they are disabled.

create table _selvedge.user_counts (
  audience text not null,
  -- Of the creation, in UTC; null for users without a time.
  day date,
  change bigint not null
);
comment on table _selvedge.user_counts is 'Users by audience and day of their creation; the sum of all rows of a day counts.';
create index user_counts_audience_day_idx on _selvedge.user_counts (audience, day);

create table _selvedge.user_counts_state (
  is_only_row boolean primary key default true check (is_only_row),
  -- The triggers under which the counts were last compared with the table. While these are others, nobody believes the counts.
  triggers text not null,
  -- How often they were compared.
  corrections bigint not null default 0
);
comment on table _selvedge.user_counts_state is 'Whether user_counts can be believed.';

create function _selvedge.count_changed_users() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op operator(pg_catalog.=) 'INSERT' then
    insert into _selvedge.user_counts (audience, day, change)
    select coalesce(u.aud::text, ''), (u.created_at at time zone 'UTC')::date, count(*)
    from added as u
    where u.instance_id is null or u.instance_id operator(pg_catalog.=) '00000000-0000-0000-0000-000000000000'::uuid
    group by 1, 2;
  elsif tg_op operator(pg_catalog.=) 'DELETE' then
    insert into _selvedge.user_counts (audience, day, change)
    select coalesce(u.aud::text, ''), (u.created_at at time zone 'UTC')::date, operator(pg_catalog.-) count(*)
    from removed as u
    where u.instance_id is null or u.instance_id operator(pg_catalog.=) '00000000-0000-0000-0000-000000000000'::uuid
    group by 1, 2;
  elsif tg_op operator(pg_catalog.=) 'UPDATE' then
    insert into _selvedge.user_counts (audience, day, change)
    select coalesce(u.aud, ''), (u.created_at at time zone 'UTC')::date, u.change
    from (values
      (old.instance_id, old.aud::text, old.created_at, -1),
      (new.instance_id, new.aud::text, new.created_at, 1)
    ) as u (instance_id, aud, created_at, change)
    where u.instance_id is null or u.instance_id operator(pg_catalog.=) '00000000-0000-0000-0000-000000000000'::uuid;
  else
    -- A truncation also removes users that its transaction does not see.
    update _selvedge.user_counts_state as s set triggers = '', corrections = s.corrections operator(pg_catalog.+) 1;
  end if;
  return null;
end
$$;
comment on function _selvedge.count_changed_users() is 'Notes in user_counts how many users a statement has added and removed.';
revoke all on function _selvedge.count_changed_users() from public;

-- Before it is any trigger's: the columns of auth.users are their owner's, who may give them types and casts of its own, as `postgres` may, and the
-- function computes these.
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

-- The triggers by their version, which changes when one is disabled or made again; null unless all of them fire for everybody.
create function _selvedge.describe_user_triggers() returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
begin atomic
  select pg_catalog.string_agg(
    pg_catalog.concat_ws(' ', t.oid::text, t.xmin::text, t.tgenabled::text), ', ' order by t.tgname
  )
  from pg_catalog.pg_trigger as t
  where t.tgrelid operator(pg_catalog.=) 'auth.users'::pg_catalog.regclass
    and t.tgfoid operator(pg_catalog.=) '_selvedge.count_changed_users'::pg_catalog.regproc
  having pg_catalog.count(*) operator(pg_catalog.=) 4 and pg_catalog.bool_and(t.tgenabled operator(pg_catalog.=) 'A'::"char");
end;
comment on function _selvedge.describe_user_triggers() is 'The triggers that count users, as user_counts_state keeps them.';
revoke all on function _selvedge.describe_user_triggers() from public;

-- Auth counts the users when it starts, as the owner of the table: indexes and checks of the project on auth.users would run as this superuser.
insert into _selvedge.user_counts_state (triggers) values ('');

grant select, insert, delete on _selvedge.user_counts to supabase_auth_admin;
grant select, update on _selvedge.user_counts_state to supabase_auth_admin;
grant execute on function _selvedge.describe_user_triggers() to supabase_auth_admin;

-- All that follows needs this lock, which is kept until the end of the file: sign-ups and sign-ins of nodes that run already wait for a second
-- or two per million users, while the index is built. They also wait behind a lock that is asked for and not granted, as beside an open
-- transaction that has changed users, so it is asked for only briefly, again and again.
do $$
begin
  for attempt in 1 .. 200 loop
    begin
      perform pg_catalog.set_config('lock_timeout', '500ms', true);
      lock table auth.users in share row exclusive mode;
      perform pg_catalog.set_config('lock_timeout', '0', true);
      return;
    exception when lock_not_available then
      perform pg_catalog.pg_sleep(1);
    end;
  end loop;
  raise exception 'auth.users has been in use by one transaction for five minutes'
    using errcode = 'lock_not_available', hint = 'End that transaction (pg_stat_activity, xact_start), then start again.';
end
$$;

-- Pages are found by their day, and read from this index alone.
create index users_audience_created_at_id_idx on auth.users (coalesce(aud, ''), created_at desc nulls last, id desc)
  include (aud, instance_id)
  where instance_id = '00000000-0000-0000-0000-000000000000' or instance_id is null;

create trigger selvedge_count_added after insert on auth.users
  referencing new table as added for each statement execute function _selvedge.count_changed_users();
create trigger selvedge_count_removed after delete on auth.users
  referencing old table as removed for each statement execute function _selvedge.count_changed_users();
create trigger selvedge_count_moved after update on auth.users
  for each row
  when (
    old.aud is distinct from new.aud or old.instance_id is distinct from new.instance_id
    or old.created_at is distinct from new.created_at
  )
  execute function _selvedge.count_changed_users();
create trigger selvedge_count_truncated after truncate on auth.users
  for each statement execute function _selvedge.count_changed_users();
-- Imports and restores run as replicas, so that triggers of the project are silent.
alter table auth.users enable always trigger selvedge_count_added;
alter table auth.users enable always trigger selvedge_count_removed;
alter table auth.users enable always trigger selvedge_count_moved;
alter table auth.users enable always trigger selvedge_count_truncated;
