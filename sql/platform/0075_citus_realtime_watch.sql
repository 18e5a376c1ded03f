-- Like the event triggers of 0070, that of 0009 keeps quiet in the connections of Citus between its nodes, which end their
-- transactions with PREPARE TRANSACTION: PostgreSQL refuses it after a NOTIFY. A reference table could not be made otherwise.

create or replace function realtime.announce_catalog_change() returns event_trigger
  language plpgsql
as $$
begin
  if current_setting('application_name') like 'citus\_%' then
    return;
  end if;
  notify realtime_catalog;
end
$$;
