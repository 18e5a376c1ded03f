-- What the realtime service needs of the database (realtime.md §10, §12, §16).

-- The service logs in as supabase_replication_admin: it reads the replication stream, owns realtime.messages through its
-- membership (so that its probe rows pass every policy), and becomes the role of a token as the API does.
grant supabase_realtime_admin, authenticator to supabase_replication_admin;
grant anon, authenticated, service_role to supabase_replication_admin;
grant usage on schema realtime to supabase_replication_admin;
grant execute on function realtime.maintain_messages_partitions(integer) to supabase_replication_admin;

do $$
begin
  -- By the root: rows of daily partitions must arrive under one name.
  if not exists (select from pg_catalog.pg_publication where pubname = 'supabase_realtime_messages_publication') then
    create publication supabase_realtime_messages_publication for table realtime.messages
      with (publish = 'insert', publish_via_partition_root = true);
  end if;
end
$$;

-- A payload that is no object cannot take an id: only the warning, no message.
create or replace function realtime.send(payload jsonb, event text, topic text, private boolean default true) returns void
  language plpgsql
as $$
declare
  message_id uuid := gen_random_uuid();
begin
  -- A broadcast must never fail the statement that caused it.
  begin
    if jsonb_typeof(send.payload) <> 'object' then
      raise exception 'the payload is not an object';
    end if;
    perform set_config('realtime.topic', send.topic, true);
    insert into realtime.messages (id, payload, event, topic, private, extension)
    values (
      message_id,
      case
        when send.payload ? 'id' then send.payload
        else send.payload || jsonb_build_object('id', message_id)
      end,
      send.event, send.topic, send.private, 'broadcast'
    );
  exception when others then
    raise warning 'WarnSendingBroadcastMessage: %', sqlerrm;
  end;
end
$$;
