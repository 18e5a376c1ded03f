-- The schema pgmq_public, through which the API's roles reach queues, as the dashboard's switch makes it. Its functions run with the
-- rights of their callers: a queue opens only by grants on its tables, and by policies.
select _selvedge.create_extension('pgmq', true, 'public', null, false);

create schema if not exists pgmq_public;
grant usage on schema pgmq_public to postgres, anon, authenticated, service_role;

create or replace function pgmq_public.send(queue_name text, message jsonb, sleep_seconds integer default 0)
  returns setof bigint language plpgsql
  set search_path = ''
as $$
begin
  return query select * from pgmq.send(queue_name := queue_name, msg := message, delay := sleep_seconds);
end
$$;
comment on function pgmq_public.send(text, jsonb, integer) is 'Sends a message, which is visible after sleep_seconds.';

create or replace function pgmq_public.send_batch(queue_name text, messages jsonb[], sleep_seconds integer default 0)
  returns setof bigint language plpgsql
  set search_path = ''
as $$
begin
  return query select * from pgmq.send_batch(queue_name := queue_name, msgs := messages, delay := sleep_seconds);
end
$$;
comment on function pgmq_public.send_batch(text, jsonb[], integer) is 'Sends messages, which are visible after sleep_seconds.';

create or replace function pgmq_public.read(queue_name text, sleep_seconds integer, n integer)
  returns setof pgmq.message_record language plpgsql
  set search_path = ''
as $$
begin
  return query select * from pgmq.read(queue_name := queue_name, vt := sleep_seconds, qty := n);
end
$$;
comment on function pgmq_public.read(text, integer, integer) is 'Reads n messages, which are invisible for sleep_seconds then.';

create or replace function pgmq_public.pop(queue_name text) returns setof pgmq.message_record language plpgsql
  set search_path = ''
as $$
begin
  return query select * from pgmq.pop(queue_name := queue_name);
end
$$;
comment on function pgmq_public.pop(text) is 'Reads a message and deletes it.';

create or replace function pgmq_public.archive(queue_name text, message_id bigint) returns boolean language plpgsql
  set search_path = ''
as $$
begin
  return pgmq.archive(queue_name := queue_name, msg_id := message_id);
end
$$;
comment on function pgmq_public.archive(text, bigint) is 'Moves a message to the archive of its queue.';

create or replace function pgmq_public.delete(queue_name text, message_id bigint) returns boolean language plpgsql
  set search_path = ''
as $$
begin
  return pgmq.delete(queue_name := queue_name, msg_id := message_id);
end
$$;
comment on function pgmq_public.delete(text, bigint) is 'Deletes a message.';

grant execute on all functions in schema pgmq_public to postgres, anon, authenticated, service_role;

grant usage on schema pgmq to anon, authenticated, service_role;
grant usage, select, update on all sequences in schema pgmq to anon, authenticated, service_role;
alter default privileges in schema pgmq grant usage, select, update on sequences to anon, authenticated, service_role;
grant select, insert, update, delete on all tables in schema pgmq to service_role;
alter default privileges in schema pgmq grant all on tables to service_role;

-- Says that all of this was done. The number counts the changes of this file.
comment on schema pgmq_public is 'Queues over the data API, made by Selvedge (1)';
