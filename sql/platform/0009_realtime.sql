-- Schema `realtime` (realtime.md §12): what policies, triggers and migrations of projects touch.

set local role supabase_realtime_admin;

create type realtime.action as enum ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'ERROR');
create type realtime.equality_op as enum (
  'eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'like', 'ilike', 'is', 'match', 'imatch', 'isdistinct'
);
create type realtime.user_defined_filter as (
  column_name text, op realtime.equality_op, value text, negate boolean
);
create type realtime.wal_column as (
  name text, type_name text, type_oid oid, value jsonb, is_pkey boolean, is_selectable boolean
);
create type realtime.wal_rls as (
  wal jsonb, is_rls_enabled boolean, subscription_ids uuid[], errors text[]
);

-- Broadcasts from the database, and the table whose policies authorize private channels. One partition per day keeps
-- clean-up cheap.
create table realtime.messages (
  topic text not null,
  extension text not null,
  payload jsonb,
  event text,
  private boolean default false,
  updated_at timestamp not null default now(),
  inserted_at timestamp not null default now(),
  id uuid not null default gen_random_uuid(),
  binary_payload bytea,
  constraint messages_pkey primary key (id, inserted_at),
  constraint messages_payload_exclusive check (payload is null or binary_payload is null)
) partition by range (inserted_at);
create index messages_inserted_at_topic_index on realtime.messages (inserted_at desc, topic)
  where extension = 'broadcast' and private is true;
alter table realtime.messages enable row level security;
grant select, insert, update on realtime.messages to anon, authenticated, service_role;
grant all on realtime.messages to postgres, dashboard_user;

-- Creates the partitions from yesterday to `days_ahead` days from now and drops those older than 72 hours; days are UTC.
-- Called when the server starts and by realtime's janitor. Several nodes may call it at once.
create function realtime.maintain_messages_partitions(days_ahead integer default 3) returns void
  language plpgsql security definer
  set search_path = ''
as $$
declare
  today date := (now() at time zone 'utc')::date;
  day date;
  partition record;
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('realtime.messages partitions', 0));
  for day in select d::date from pg_catalog.generate_series(today - 1, today + days_ahead, interval '1 day') as d loop
    if pg_catalog.to_regclass(pg_catalog.format('realtime.messages_%s', pg_catalog.to_char(day, 'YYYY_MM_DD'))) is null
    then
      execute pg_catalog.format(
        'create table realtime.%I partition of realtime.messages for values from (%L) to (%L)',
        'messages_' || pg_catalog.to_char(day, 'YYYY_MM_DD'), day, day + 1
      );
    end if;
  end loop;
  for partition in
    select c.oid::regclass as name
    from pg_catalog.pg_inherits as i
    join pg_catalog.pg_class as c on c.oid = i.inhrelid
    where i.inhparent = 'realtime.messages'::regclass
      and c.relname ~ '^messages_\d{4}_\d{2}_\d{2}$'
      and pg_catalog.to_date(pg_catalog.right(c.relname, 10), 'YYYY_MM_DD') < today - 3
  loop
    execute pg_catalog.format('drop table %s', partition.name);
  end loop;
end
$$;
revoke all on function realtime.maintain_messages_partitions(integer) from public;
grant execute on function realtime.maintain_messages_partitions(integer) to service_role;

create function realtime.topic() returns text
  language sql stable
  return nullif(current_setting('realtime.topic', true), '');

create function realtime.to_regrole(role_name text) returns regrole
  language sql immutable
  return role_name::regrole;

create function realtime.send(payload jsonb, event text, topic text, private boolean default true) returns void
  language plpgsql
as $$
declare
  message_id uuid := gen_random_uuid();
begin
  -- A broadcast must never fail the statement that caused it.
  begin
    perform set_config('realtime.topic', send.topic, true);
    insert into realtime.messages (id, payload, event, topic, private, extension)
    values (
      message_id,
      case
        when jsonb_typeof(send.payload) = 'object' and not send.payload ? 'id'
        then send.payload || jsonb_build_object('id', message_id)
        else send.payload
      end,
      send.event, send.topic, send.private, 'broadcast'
    );
  exception when others then
    raise warning 'WarnSendingBroadcastMessage: %', sqlerrm;
  end;
end
$$;

create function realtime.send_binary(payload bytea, event text, topic text, private boolean default true) returns void
  language plpgsql
as $$
begin
  begin
    perform set_config('realtime.topic', send_binary.topic, true);
    insert into realtime.messages (binary_payload, event, topic, private, extension)
    values (send_binary.payload, send_binary.event, send_binary.topic, send_binary.private, 'broadcast');
  exception when others then
    raise warning 'WarnSendingBroadcastMessage: %', sqlerrm;
  end;
end
$$;

-- For row triggers: sends what changed to the private topic.
create function realtime.broadcast_changes(
  topic_name text,
  event_name text,
  operation text,
  table_name text,
  table_schema text,
  new record,
  old record,
  level text default 'ROW'
) returns void
  language plpgsql
as $$
begin
  if level = 'STATEMENT' then
    raise exception 'function can only be triggered for each row, not for each statement';
  end if;
  if operation not in ('INSERT', 'UPDATE', 'DELETE') then
    raise exception 'Unexpected operation type: %', operation;
  end if;
  perform realtime.send(
    jsonb_build_object(
      'schema', table_schema, 'table', table_name, 'operation', operation,
      'record', to_jsonb(new), 'old_record', to_jsonb(old)
    ),
    event_name, topic_name
  );
exception when others then
  raise exception 'Failed to process the row: %', sqlerrm;
end
$$;

create function realtime."cast"(val text, type_ regtype) returns jsonb
  language plpgsql immutable
as $$
declare
  res jsonb;
begin
  if type_::text = 'bytea' then
    return to_jsonb(val);
  end if;
  execute format('select to_jsonb(%L::' || type_::text || ')', val) into res;
  return res;
end
$$;

-- Whether `val_1 op val_2` holds, both taken as values of `type_`. Null is not visible, negated or not.
create function realtime.check_equality_op(
  op realtime.equality_op, type_ regtype, val_1 text, val_2 text, negate boolean default false
) returns boolean
  language plpgsql immutable
as $$
declare
  res boolean;
  operand text := case when op = 'in' then 'any(%L::' || type_::text || '[])' else '%L::' || type_::text end;
  symbol text := case op
    when 'eq' then '=' when 'neq' then '<>' when 'lt' then '<' when 'lte' then '<=' when 'gt' then '>'
    when 'gte' then '>=' when 'in' then '=' when 'like' then 'like' when 'ilike' then 'ilike'
    when 'match' then '~' when 'imatch' then '~*' when 'isdistinct' then 'is distinct from'
  end;
begin
  if op = 'is' then
    if lower(val_2) not in ('null', 'true', 'false', 'unknown') then
      raise exception 'invalid value for is filter: must be null, true, false, or unknown';
    end if;
    execute format('select %L::%s is %s', val_1, type_::text, val_2) into res;
  else
    execute format('select %L::' || type_::text || ' ' || symbol || ' ' || operand, val_1, val_2) into res;
  end if;
  return coalesce(case when negate then not res else res end, false);
end
$$;

create function realtime.is_visible_through_filters(
  columns realtime.wal_column[], filters realtime.user_defined_filter[]
) returns boolean
  language sql immutable
as $$
  -- A filter whose column is not in the row fails closed.
  select coalesce(
    bool_and(coalesce(
      realtime.check_equality_op(
        f.op, coalesce(c.type_oid::regtype, c.type_name::regtype), c.value #>> '{}', f.value, coalesce(f.negate, false)
      ),
      false
    )),
    true
  )
  from unnest(filters) as f
  left join unnest(columns) as c on c.name = f.column_name
$$;

create table realtime.subscription (
  id bigint generated always as identity,
  subscription_id uuid not null,
  entity regclass not null,
  filters realtime.user_defined_filter[] not null default '{}',
  claims jsonb not null,
  claims_role regrole not null generated always as (realtime.to_regrole(claims ->> 'role')) stored,
  created_at timestamp not null default timezone('utc', now()),
  action_filter text default '*',
  selected_columns text[],
  constraint pk_subscription primary key (id),
  constraint subscription_action_filter_check check (action_filter in ('*', 'INSERT', 'UPDATE', 'DELETE'))
);
create unique index subscription_subscription_id_entity_filters_key on realtime.subscription
  (subscription_id, entity, filters, action_filter, coalesce(selected_columns, '{}'));
create index ix_realtime_subscription_entity on realtime.subscription (entity);

-- Refuses filters and selections that the role could not use (texts: realtime.md §11.3).
create function realtime.check_binding(
  role_name text, entity regclass, filters realtime.user_defined_filter[], selected_columns text[]
) returns void
  language plpgsql
as $$
declare
  filter realtime.user_defined_filter;
  column_type regtype;
  selected text;
begin
  foreach filter in array filters loop
    select a.atttypid::regtype into column_type
    from pg_catalog.pg_attribute as a
    where a.attrelid = entity and a.attname = filter.column_name and a.attnum > 0 and not a.attisdropped
      and pg_catalog.has_column_privilege(role_name, entity, a.attnum, 'SELECT');
    if not found then
      raise exception 'invalid column for filter %', filter.column_name;
    end if;

    if filter.op = 'in' then
      if cardinality(realtime.filter_values(filter.value, column_type)) > 100 then
        raise exception 'too many values for `in` filter. Maximum 100';
      end if;
    elsif filter.op = 'is' then
      if filter.value not in ('null', 'true', 'false', 'unknown') then
        raise exception 'invalid value for is filter: must be null, true, false, or unknown';
      end if;
      if filter.value <> 'null' and column_type <> 'boolean'::regtype then
        raise exception 'is % filter requires a boolean column, got %', filter.value, column_type;
      end if;
    elsif filter.op in ('like', 'ilike', 'match', 'imatch') then
      if column_type not in ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'name'::regtype) then
        raise exception 'operator % requires a text-compatible column type, got %', filter.op, column_type;
      end if;
      if filter.op in ('match', 'imatch') then
        begin
          perform '' ~ filter.value;
        exception when others then
          raise exception 'invalid regular expression for % filter: %', filter.op, sqlerrm;
        end;
      end if;
    else
      perform realtime.cast(filter.value, column_type);
    end if;
  end loop;

  foreach selected in array selected_columns loop
    if not exists (
      select from pg_catalog.pg_attribute as a
      where a.attrelid = entity and a.attname = selected and a.attnum > 0 and not a.attisdropped
        and pg_catalog.has_column_privilege(role_name, entity, a.attnum, 'SELECT')
    ) then
      raise exception 'invalid column for select %', selected;
    end if;
  end loop;
end
$$;

create function realtime.subscription_check_filters() returns trigger
  language plpgsql
as $$
begin
  perform realtime.check_binding(
    new.claims ->> 'role', new.entity, new.filters, coalesce(new.selected_columns, '{}')
  );
  -- One order, so that the same set of filters is the same subscription.
  new.filters := coalesce(
    (select array_agg(f order by f.column_name, f.op, f.value, f.negate) from unnest(new.filters) as f), '{}'
  );
  return new;
end
$$;

-- The values of an `in` list, each checked to be of the type.
create function realtime.filter_values(list text, type_ regtype) returns text[]
  language plpgsql stable
as $$
declare
  result text[];
begin
  execute format('select (%L::' || type_::text || '[])::text[]', list) into result;
  return result;
end
$$;

create trigger tr_check_filters
  before insert or update on realtime.subscription
  for each row execute function realtime.subscription_check_filters();

create table realtime.schema_migrations (
  version bigint not null,
  inserted_at timestamp(0),
  constraint schema_migrations_pkey primary key (version)
);

grant execute on all functions in schema realtime to anon, authenticated, service_role, postgres;
revoke execute on function realtime.maintain_messages_partitions(integer) from anon, authenticated;

select realtime.maintain_messages_partitions();

-- What follows needs rights on the database itself.
reset role;

-- Broadcasts from the database are read from the WAL. Via the root, so that they do not arrive under the daily partitions.
create publication supabase_realtime_messages_publication for table realtime.messages
  with (publish = 'insert', publish_via_partition_root = true);

-- Tells the consumer of database changes that publications, tables, policies or rights have changed.
create function realtime.announce_catalog_change() returns event_trigger
  language plpgsql
as $$
begin
  notify realtime_catalog;
end
$$;
revoke all on function realtime.announce_catalog_change() from public;
create event trigger realtime_announce_catalog_change on ddl_command_end
  when tag in (
    'CREATE PUBLICATION', 'ALTER PUBLICATION', 'DROP PUBLICATION', 'CREATE POLICY', 'ALTER POLICY', 'DROP POLICY',
    'ALTER TABLE', 'DROP TABLE', 'DROP TYPE', 'ALTER TYPE', 'GRANT', 'REVOKE'
  )
  execute function realtime.announce_catalog_change();

-- The consumer of database changes validates bindings and evaluates filters as authenticator, before it is any caller.
grant usage on schema realtime to authenticator;
grant execute on function
  realtime."cast"(text, regtype),
  realtime.check_binding(text, regclass, realtime.user_defined_filter[], text[]),
  realtime.check_equality_op(realtime.equality_op, regtype, text, text, boolean),
  realtime.filter_values(text, regtype)
  to authenticator;
