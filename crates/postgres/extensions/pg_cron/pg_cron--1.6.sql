-- pg_cron: jobs on a schedule (docs/extensions.md). The functions keep the table `cron.job`; the leading node of the server
-- (crates/jobs) runs each job over a connection of the job's user and writes `cron.job_run_details`.

create schema cron;
create sequence cron.jobid_seq;
create sequence cron.runid_seq;

create table cron.job (
  jobid bigint primary key default pg_catalog.nextval('cron.jobid_seq'),
  schedule text not null,
  command text not null,
  nodename text not null default 'localhost',
  nodeport integer not null default coalesce(pg_catalog.inet_server_port(), pg_catalog.current_setting('port')::integer),
  database text not null default pg_catalog.current_database(),
  username text not null default current_user,
  active boolean not null default true,
  jobname text,
  constraint jobname_username_uniq unique (jobname, username)
);

create table cron.job_run_details (
  jobid bigint,
  runid bigint primary key default pg_catalog.nextval('cron.runid_seq'),
  job_pid integer,
  database text,
  username text,
  command text,
  status text,
  return_message text,
  start_time timestamptz,
  end_time timestamptz
);
create index job_run_details_unfinished_idx on cron.job_run_details (runid) where end_time is null;
-- Which runs have begun lately is asked by the node that takes over.
create index job_run_details_started_idx on cron.job_run_details (jobid, start_time);

-- The numbers of a list such as `1,3-5,*/2`, or null when it is malformed. Names stand for `low`, `low + 1` and so on.
create function cron._parse_list(list text, low integer, high integer, names text[]) returns integer[]
  language plpgsql immutable
as $$
declare
  item text;
  parts text[];
  first integer;
  last integer;
  step integer;
  numbers integer[] := '{}';
begin
  if list ~ ',$' then
    return null;
  end if;
  foreach item in array pg_catalog.string_to_array(list, ',') loop
    parts := pg_catalog.regexp_match(item, '^(?:(\*)|([A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?)(?:/(\d{1,6}))?$');
    if parts is null or (parts[1] is null and parts[3] is null and parts[4] is not null) then
      return null;
    end if;
    if parts[1] is not null then
      first := low;
      last := high;
    else
      first := cron._parse_number(parts[2], low, names);
      last := coalesce(cron._parse_number(parts[3], low, names), first);
      if parts[3] is not null and cron._parse_number(parts[3], low, names) is null then
        return null;
      end if;
    end if;
    step := coalesce(parts[4]::integer, 1);
    -- As in pg_cron 1.6.4, a step above the field's range means the first value.
    if first is null or first not between low and high or last not between low and high or step < 1 then
      return null;
    end if;
    numbers := numbers || array(select pg_catalog.generate_series(first, last, step));
  end loop;
  return numbers;
end
$$;

-- A number, or the place of a name in its list; null for anything else.
create function cron._parse_number(value text, low integer, names text[]) returns integer
  language sql immutable
as $$
  select case
    when value ~ '^\d{1,6}$' then value::integer
    else pg_catalog.array_position(names, pg_catalog.lower(value)) - 1 + low
  end
$$;

-- Whether a schedule is one of cron's (five fields, a shortcut such as `@hourly`) or an interval such as `30 seconds`.
create function cron._is_valid_schedule(schedule text) returns boolean
  language plpgsql immutable
as $$
declare
  fields text[] := pg_catalog.regexp_split_to_array(pg_catalog.btrim(schedule, E' \t\n'), '[ \t]+');
  seconds text[] := pg_catalog.regexp_match(schedule, '^\s*(\d{1,6})\s+seconds?\s*$', 'i');
begin
  if seconds is not null then
    return seconds[1]::integer between 1 and 59;
  end if;
  if fields[1] ~ '^@' then
    return fields[1] in (
      '@reboot', '@restart', '@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'
    );
  end if;
  return coalesce(pg_catalog.array_length(fields, 1), 0) >= 5
    and cron._parse_list(fields[1], 0, 59, null) is not null
    and cron._parse_list(fields[2], 0, 23, null) is not null
    and (fields[3] = '$' or cron._parse_list(fields[3], 1, 31, null) is not null)
    and cron._parse_list(
      fields[4], 1, 12, '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'
    ) is not null
    and cron._parse_list(fields[5], 0, 7, '{sun,mon,tue,wed,thu,fri,sat,sun}') is not null;
end
$$;

create function cron._require_valid_schedule(schedule text) returns void
  language plpgsql immutable
as $$
begin
  if schedule is null then
    raise exception 'schedule can not be NULL';
  end if;
  if not cron._is_valid_schedule(schedule) then
    raise invalid_parameter_value using
      message = pg_catalog.format('invalid schedule: %s', schedule),
      hint = 'Use cron format (e.g. 5 4 * * *), or interval format ''[1-59] seconds''';
  end if;
end
$$;

-- A job runs with all rights of its user, so only a superuser may write jobs of others, and none runs as a role of the platform. This holds for roles that bypass
-- row-level security as well, and for direct changes of the table.
create function cron._check_owner() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  is_superuser boolean := (select r.rolsuper from pg_roles as r where r.rolname = current_user);
begin
  if tg_op <> 'INSERT' and old.username <> current_user::text and not is_superuser then
    raise insufficient_privilege using message = 'permission denied for table job';
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  if new.username <> current_user::text and not is_superuser then
    raise insufficient_privilege using message = 'must be superuser to create a job for another role';
  end if;
  if _selvedge.is_reserved_role(new.username) and not is_superuser then
    raise insufficient_privilege using
      message = 'jobs do not run as "' || new.username || '"',
      detail = 'The role belongs to the platform.';
  end if;
  return new;
end
$$;

create trigger cron_job_check_owner before insert or update or delete on cron.job
  for each row execute function cron._check_owner();
-- ALWAYS, because session_replication_role switches ordinary triggers off, and `postgres` may set it.
alter table cron.job enable always trigger cron_job_check_owner;

-- Makes the server read the jobs again.
create function cron.job_cache_invalidate() returns trigger
  language plpgsql
as $$
begin
  perform pg_catalog.pg_notify('selvedge_jobs', 'cron');
  return null;
end
$$;

create trigger cron_job_cache_invalidate after insert or update or delete or truncate on cron.job
  for each statement execute function cron.job_cache_invalidate();

-- Checks that a role may log in, and returns its name; null for null.
create function cron._require_login(username text) returns text
  language plpgsql stable strict
as $$
declare
  can_login boolean := (select r.rolcanlogin from pg_catalog.pg_roles as r where r.rolname = username);
begin
  if can_login is null then
    raise exception 'role "%" does not exist', username;
  end if;
  if not can_login then
    raise exception 'role "%" can not log in', username using
      detail = 'Jobs may only be run by roles that have the LOGIN attribute.';
  end if;
  return username;
end
$$;

create function cron._require_connect(username text, database text) returns void
  language plpgsql stable
as $$
begin
  if not pg_catalog.has_database_privilege(username, database, 'connect') then
    raise exception 'User % does not have CONNECT privilege on %', username, database;
  end if;
end
$$;

-- Creates a job, or changes the caller's job of the same name.
create function cron._put_job(
  job_name text, schedule text, command text, database text, username text default null, active boolean default true
) returns bigint
  language plpgsql
as $$
#variable_conflict use_column
declare
  job_user text := coalesce(cron._require_login(_put_job.username), current_user);
  new_id bigint;
begin
  perform cron._require_valid_schedule(_put_job.schedule);
  if _put_job.command is null then
    raise exception 'command can not be NULL';
  end if;
  if job_user <> current_user and not (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = current_user) then
    raise exception 'must be superuser to create a job for another role';
  end if;
  perform cron._require_connect(job_user, _put_job.database);
  insert into cron.job as j (schedule, command, nodeport, database, username, active, jobname)
  values (
    _put_job.schedule, _put_job.command, pg_catalog.current_setting('port')::integer, _put_job.database, job_user,
    coalesce(_put_job.active, true), job_name
  )
  on conflict on constraint jobname_username_uniq
  do update set schedule = excluded.schedule, command = excluded.command, database = excluded.database
  returning j.jobid into new_id;
  return new_id;
end
$$;

create function cron.schedule_in_database(
  job_name text, schedule text, command text, database text, username text default null, active boolean default true
) returns bigint
  language plpgsql
as $$
begin
  if job_name is null then
    raise exception 'job_name can not be NULL';
  end if;
  return cron._put_job(
    job_name, schedule, command, coalesce(database, pg_catalog.current_database()::text), username, active
  );
end
$$;

create function cron.schedule(job_name text, schedule text, command text) returns bigint
  language plpgsql
as $$
begin
  if job_name is null then
    raise exception 'job_name can not be NULL';
  end if;
  return cron._put_job(job_name, schedule, command, pg_catalog.current_database()::text);
end
$$;

create function cron.schedule(schedule text, command text) returns bigint
  language sql strict
as $$ select cron._put_job(null, schedule, command, pg_catalog.current_database()::text) $$;

create function cron.unschedule(job_id bigint) returns boolean
  language plpgsql strict
as $$
begin
  delete from cron.job as j where j.jobid = job_id;
  if not found then
    raise exception 'could not find valid entry for job %', job_id;
  end if;
  return true;
end
$$;

create function cron.unschedule(job_name text) returns boolean
  language plpgsql strict
as $$
begin
  delete from cron.job as j where j.jobname = job_name and j.username = current_user;
  if not found then
    raise exception 'could not find valid entry for job ''%''', job_name;
  end if;
  return true;
end
$$;

create function cron.alter_job(
  job_id bigint, schedule text default null, command text default null, database text default null,
  username text default null, active boolean default null
) returns void
  language plpgsql
as $$
#variable_conflict use_column
declare
  is_superuser boolean := (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = current_user);
begin
  if job_id is null then
    raise exception 'job_id can not be NULL';
  end if;
  if alter_job.username is not null and not is_superuser then
    raise exception 'must be superuser to alter username';
  end if;
  if pg_catalog.num_nonnulls(
    alter_job.schedule, alter_job.command, alter_job.database, alter_job.username, alter_job.active
  ) = 0 then
    raise exception 'no updates specified' using
      hint = 'Name at least one attribute of the job that should change.';
  end if;
  perform cron._require_login(alter_job.username);
  if alter_job.schedule is not null then
    perform cron._require_valid_schedule(alter_job.schedule);
  end if;
  if alter_job.database is not null then
    perform cron._require_connect(coalesce(alter_job.username, current_user), alter_job.database);
  end if;
  update cron.job as j
  set
    schedule = coalesce(alter_job.schedule, j.schedule),
    command = coalesce(alter_job.command, j.command),
    database = coalesce(alter_job.database, j.database),
    username = coalesce(alter_job.username, j.username),
    active = coalesce(alter_job.active, j.active)
  where j.jobid = job_id and (j.username = current_user or is_superuser);
  if not found then
    raise exception 'Job % does not exist or you don''t own it', job_id;
  end if;
end
$$;

alter table cron.job enable row level security;
create policy cron_job_policy on cron.job using (username = current_user);
alter table cron.job_run_details enable row level security;
create policy cron_job_run_details_policy on cron.job_run_details using (username = current_user);

-- The scheduling functions run with the rights of their caller, whom `current_user` names; writing is therefore granted to
-- everybody, within the limits of the policy and of cron._check_owner().
grant select, insert, update, delete on cron.job to public;
grant select, delete on cron.job_run_details to public;
grant usage, select on sequence cron.jobid_seq to public;
grant select on sequence cron.runid_seq to public;
revoke all on function cron.alter_job, cron.schedule_in_database from public;

grant usage on schema cron to postgres with grant option;
-- Without TRIGGER: a trigger would run with the rights of whoever changes jobs, and of the scheduler.
grant select, insert, update, delete on cron.job to postgres with grant option;
grant select, insert, update, delete, truncate on cron.job_run_details to postgres with grant option;
grant execute on function cron.alter_job, cron.schedule_in_database to postgres with grant option;

-- The scheduler logs in as `authenticator`. It reads all jobs and writes the details of their runs.
create policy cron_scheduler_policy on cron.job for select to authenticator using (true);
create policy cron_scheduler_policy on cron.job_run_details to authenticator using (true) with check (true);
grant usage on schema cron to authenticator;
grant select, insert, update on cron.job_run_details to authenticator;
grant usage on sequence cron.runid_seq to authenticator;

select pg_catalog.pg_extension_config_dump('cron.job', '');
select pg_catalog.pg_extension_config_dump('cron.jobid_seq', '');
select pg_catalog.pg_extension_config_dump('cron.job_run_details', '');
select pg_catalog.pg_extension_config_dump('cron.runid_seq', '');
