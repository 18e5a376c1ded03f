-- pgmq: message queues in tables (docs/extensions.md). A queue is the table `pgmq.q_<name>` with its archive
-- `pgmq.a_<name>`. Queues belong to the role that creates them.

create table pgmq.meta (
  queue_name varchar unique not null,
  is_partitioned boolean not null,
  is_unlogged boolean not null,
  created_at timestamptz not null default now()
);

create type pgmq.message_record as (
  msg_id bigint, read_ct integer, enqueued_at timestamptz, vt timestamptz, message jsonb, headers jsonb
);
create type pgmq.queue_record as (
  queue_name varchar, is_partitioned boolean, is_unlogged boolean, created_at timestamptz
);
create type pgmq.metrics_result as (
  queue_name text, queue_length bigint, newest_msg_age_sec integer, oldest_msg_age_sec integer, total_messages bigint,
  scrape_time timestamptz, queue_visible_length bigint
);

-- Serializes creating and dropping one queue.
create function pgmq.acquire_queue_lock(queue_name text) returns void
  language sql
as $$ select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('pgmq.queue_' || queue_name)) $$;

create function pgmq.validate_queue_name(queue_name text) returns void
  language plpgsql
as $$
begin
  -- The longest name that PostgreSQL does not cut, given the prefixes that tables of a queue may get.
  if length(queue_name) > 47 then
    raise exception 'queue name is too long, maximum length is 47 characters';
  end if;
end
$$;

create function pgmq.format_table_name(queue_name text, prefix text) returns text
  language plpgsql
as $$
begin
  if queue_name ~ '\$|;|--|''' then
    raise exception 'queue name contains invalid characters: $, ;, --, or \''';
  end if;
  return lower(prefix || '_' || queue_name);
end
$$;

create function pgmq._extension_exists(extension_name text) returns boolean
  language sql
as $$ select exists (select from pg_catalog.pg_extension as e where e.extname = extension_name) $$;

create function pgmq._belongs_to_pgmq(table_name text) returns boolean
  language sql
as $$
  select exists (
    select from pg_catalog.pg_depend as d
      join pg_catalog.pg_class as c on c.oid = d.objid and d.classid = 'pg_catalog.pg_class'::regclass
    where c.relname = table_name and c.relnamespace = 'pgmq'::regnamespace and d.deptype = 'e'
      and d.refobjid = (select e.oid from pg_catalog.pg_extension as e where e.extname = 'pgmq')
  )
$$;

-- Creates the tables of a queue that does not exist yet.
create function pgmq._create_queue(queue_name text, unlogged boolean) returns void
  language plpgsql
as $$
declare
  qtable text := pgmq.format_table_name(queue_name, 'q');
  atable text := pgmq.format_table_name(queue_name, 'a');
begin
  perform pgmq.validate_queue_name(queue_name);
  perform pgmq.acquire_queue_lock(queue_name);
  execute format(
    'create %s table if not exists pgmq.%I (
       msg_id bigint primary key generated always as identity,
       read_ct integer not null default 0,
       enqueued_at timestamptz not null default now(),
       vt timestamptz not null,
       message jsonb,
       headers jsonb
     )',
    case when unlogged then 'unlogged' else '' end, qtable
  );
  execute format(
    'create table if not exists pgmq.%I (
       msg_id bigint primary key,
       read_ct integer not null default 0,
       enqueued_at timestamptz not null default now(),
       archived_at timestamptz not null default now(),
       vt timestamptz not null,
       message jsonb,
       headers jsonb
     )',
    atable
  );
  execute format('create index if not exists %I on pgmq.%I (vt)', qtable || '_vt_idx', qtable);
  execute format('create index if not exists %I on pgmq.%I (archived_at)', 'archived_at_idx_' || queue_name, atable);
  insert into pgmq.meta (queue_name, is_partitioned, is_unlogged)
  values (_create_queue.queue_name, false, unlogged)
  on conflict do nothing;
end
$$;

create function pgmq.create_non_partitioned(queue_name text) returns void
  language sql
as $$ select pgmq._create_queue(queue_name, false) $$;

create function pgmq.create_unlogged(queue_name text) returns void
  language sql
as $$ select pgmq._create_queue(queue_name, true) $$;

create function pgmq.create(queue_name text) returns void
  language sql
as $$ select pgmq._create_queue(queue_name, false) $$;

create function pgmq.create_partitioned(
  queue_name text, partition_interval text default '10000', retention_interval text default '100000'
) returns void
  language plpgsql
as $$
begin
  raise feature_not_supported using
    message = 'pg_partman is required for partitioned queues',
    hint = 'Use pgmq.create(), and delete or archive messages that were read.';
end
$$;

create function pgmq.drop_queue(queue_name text) returns boolean
  language plpgsql
as $$
#variable_conflict use_variable
declare
  qtable text := pgmq.format_table_name(queue_name, 'q');
  atable text := pgmq.format_table_name(queue_name, 'a');
begin
  perform pgmq.acquire_queue_lock(queue_name);
  if to_regclass(format('pgmq.%I', qtable)) is null then
    raise notice 'pgmq queue `%` does not exist', queue_name;
    return false;
  end if;
  execute format('drop table if exists pgmq.%I, pgmq.%I', qtable, atable);
  delete from pgmq.meta as m where m.queue_name = queue_name;
  return true;
end
$$;

create function pgmq.drop_queue(queue_name text, partitioned boolean) returns boolean
  language plpgsql
as $$
begin
  raise warning 'drop_queue(queue_name, partitioned) is deprecated, use drop_queue(queue_name)';
  perform pgmq.drop_queue(queue_name);
  return true;
end
$$;

-- Queues are not members of the extension, so an archive is independent of it already.
create function pgmq.detach_archive(queue_name text) returns void
  language plpgsql
as $$
begin
  perform pgmq.format_table_name(queue_name, 'a');
end
$$;

create function pgmq.list_queues() returns setof pgmq.queue_record
  language sql
as $$ select m.queue_name, m.is_partitioned, m.is_unlogged, m.created_at from pgmq.meta as m $$;

create function pgmq.purge_queue(queue_name text) returns bigint
  language plpgsql
as $$
declare
  qtable text := pgmq.format_table_name(queue_name, 'q');
  deleted_count bigint;
begin
  execute format('select count(*) from pgmq.%I', qtable) into deleted_count;
  execute format('truncate table pgmq.%I', qtable);
  return deleted_count;
end
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[], delay timestamptz) returns setof bigint
  language plpgsql
as $$
begin
  return query execute format(
    'insert into pgmq.%I (vt, message, headers)
     select $2, m.message, ($3::jsonb[])[m.place] from unnest($1::jsonb[]) with ordinality as m (message, place)
     order by m.place
     returning msg_id',
    pgmq.format_table_name(queue_name, 'q')
  ) using msgs, delay, headers;
end
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[]) returns setof bigint
  language sql
as $$ select pgmq.send_batch(queue_name, msgs, null::jsonb[], clock_timestamp()) $$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[]) returns setof bigint
  language sql
as $$ select pgmq.send_batch(queue_name, msgs, headers, clock_timestamp()) $$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], delay integer) returns setof bigint
  language sql
as $$ select pgmq.send_batch(queue_name, msgs, null::jsonb[], clock_timestamp() + make_interval(secs => delay)) $$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], delay timestamptz) returns setof bigint
  language sql
as $$ select pgmq.send_batch(queue_name, msgs, null::jsonb[], delay) $$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[], delay integer) returns setof bigint
  language sql
as $$ select pgmq.send_batch(queue_name, msgs, headers, clock_timestamp() + make_interval(secs => delay)) $$;

create function pgmq.send(queue_name text, msg jsonb, headers jsonb, delay timestamptz) returns setof bigint
  language sql
as $$ select pgmq.send_batch(queue_name, array[msg], array[headers], delay) $$;

create function pgmq.send(queue_name text, msg jsonb) returns setof bigint
  language sql
as $$ select pgmq.send(queue_name, msg, null::jsonb, clock_timestamp()) $$;

create function pgmq.send(queue_name text, msg jsonb, headers jsonb) returns setof bigint
  language sql
as $$ select pgmq.send(queue_name, msg, headers, clock_timestamp()) $$;

create function pgmq.send(queue_name text, msg jsonb, delay integer) returns setof bigint
  language sql
as $$ select pgmq.send(queue_name, msg, null::jsonb, clock_timestamp() + make_interval(secs => delay)) $$;

create function pgmq.send(queue_name text, msg jsonb, delay timestamptz) returns setof bigint
  language sql
as $$ select pgmq.send(queue_name, msg, null::jsonb, delay) $$;

create function pgmq.send(queue_name text, msg jsonb, headers jsonb, delay integer) returns setof bigint
  language sql
as $$ select pgmq.send(queue_name, msg, headers, clock_timestamp() + make_interval(secs => delay)) $$;

-- Hands out up to `qty` messages that are visible and contain `conditional`; they stay invisible for `vt` seconds.
create function pgmq.read(queue_name text, vt integer, qty integer, conditional jsonb default '{}')
  returns setof pgmq.message_record
  language plpgsql
as $$
begin
  return query execute format(
    'with visible as (
       select msg_id from pgmq.%1$I
       where vt <= clock_timestamp() and ($3 = ''{}''::jsonb or message @> $3)
       order by msg_id
       limit $1
       for update skip locked
     )
     update pgmq.%1$I as m
     set vt = clock_timestamp() + make_interval(secs => $2), read_ct = m.read_ct + 1
     from visible
     where m.msg_id = visible.msg_id
     returning m.msg_id, m.read_ct, m.enqueued_at, m.vt, m.message, m.headers',
    pgmq.format_table_name(queue_name, 'q')
  ) using qty, vt, coalesce(conditional, '{}'::jsonb);
end
$$;

-- As pgmq.read(), but waits for a message up to `max_poll_seconds`.
create function pgmq.read_with_poll(
  queue_name text, vt integer, qty integer, max_poll_seconds integer default 5, poll_interval_ms integer default 100,
  conditional jsonb default '{}'
) returns setof pgmq.message_record
  language plpgsql
as $$
declare
  stop_at timestamptz := clock_timestamp() + make_interval(secs => max_poll_seconds);
begin
  while clock_timestamp() < stop_at loop
    return query select * from pgmq.read(queue_name, vt, qty, conditional);
    exit when found;
    perform pg_catalog.pg_sleep(poll_interval_ms / 1000.0);
  end loop;
end
$$;

create function pgmq.pop(queue_name text) returns setof pgmq.message_record
  language plpgsql
as $$
begin
  return query execute format(
    'delete from pgmq.%1$I as m
     where m.msg_id = (
       select msg_id from pgmq.%1$I where vt <= clock_timestamp() order by msg_id limit 1 for update skip locked
     )
     returning m.msg_id, m.read_ct, m.enqueued_at, m.vt, m.message, m.headers',
    pgmq.format_table_name(queue_name, 'q')
  );
end
$$;

create function pgmq.set_vt(queue_name text, msg_id bigint, vt integer) returns setof pgmq.message_record
  language plpgsql
as $$
begin
  return query execute format(
    'update pgmq.%I as m set vt = clock_timestamp() + make_interval(secs => $2) where m.msg_id = $1
     returning m.msg_id, m.read_ct, m.enqueued_at, m.vt, m.message, m.headers',
    pgmq.format_table_name(queue_name, 'q')
  ) using msg_id, vt;
end
$$;

create function pgmq.delete(queue_name text, msg_ids bigint[]) returns setof bigint
  language plpgsql
as $$
begin
  return query execute format(
    'delete from pgmq.%I as m where m.msg_id = any ($1) returning m.msg_id', pgmq.format_table_name(queue_name, 'q')
  ) using msg_ids;
end
$$;

create function pgmq.delete(queue_name text, msg_id bigint) returns boolean
  language sql
as $$ select exists (select from pgmq.delete(queue_name, array[msg_id])) $$;

create function pgmq.archive(queue_name text, msg_ids bigint[]) returns setof bigint
  language plpgsql
as $$
begin
  return query execute format(
    'with removed as (
       delete from pgmq.%I as m where m.msg_id = any ($1)
       returning m.msg_id, m.vt, m.read_ct, m.enqueued_at, m.message, m.headers
     )
     insert into pgmq.%I as a (msg_id, vt, read_ct, enqueued_at, message, headers)
     select * from removed
     returning a.msg_id',
    pgmq.format_table_name(queue_name, 'q'), pgmq.format_table_name(queue_name, 'a')
  ) using msg_ids;
end
$$;

create function pgmq.archive(queue_name text, msg_id bigint) returns boolean
  language sql
as $$ select exists (select from pgmq.archive(queue_name, array[msg_id])) $$;

create function pgmq.metrics(queue_name text) returns pgmq.metrics_result
  language plpgsql
as $$
declare
  qtable text := pgmq.format_table_name(queue_name, 'q');
  result pgmq.metrics_result;
begin
  execute format(
    'select $1, count(*), extract(epoch from now() - max(enqueued_at))::integer,
       extract(epoch from now() - min(enqueued_at))::integer,
       (select case when is_called then last_value else 0 end from pgmq.%I),
       now(), count(*) filter (where vt <= now())
     from pgmq.%I',
    qtable || '_msg_id_seq', qtable
  ) into result using queue_name;
  return result;
end
$$;

create function pgmq.metrics_all() returns setof pgmq.metrics_result
  language sql
as $$ select (pgmq.metrics(m.queue_name)).* from pgmq.meta as m $$;

-- Roles that may use queues create and drop them, too.
grant usage on schema pgmq to pg_monitor;
grant select on all tables in schema pgmq to pg_monitor;
alter default privileges in schema pgmq grant select on tables to pg_monitor;
alter default privileges in schema pgmq grant select on sequences to pg_monitor;
grant all on schema pgmq to postgres with grant option;
grant select, insert, update, delete on pgmq.meta to postgres with grant option;

select pg_catalog.pg_extension_config_dump('pgmq.meta', '');
