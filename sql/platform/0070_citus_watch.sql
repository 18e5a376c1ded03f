-- The event triggers of 0010 send no NOTIFY in connections between Citus's nodes: Citus ends these transactions by PREPARE
-- TRANSACTION, which PostgreSQL refuses after a NOTIFY. The node that received the client's statement sends it.

create or replace function extensions.pgrst_ddl_watch() returns event_trigger
  language plpgsql
as $$
begin
  if current_setting('application_name') like 'citus\_%' then
    return;
  end if;
  if exists (
    select from pg_catalog.pg_event_trigger_ddl_commands() as command
    where (
        command.command_tag in (
          'CREATE SCHEMA', 'ALTER SCHEMA', 'CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'ALTER TABLE',
          'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE', 'CREATE VIEW', 'ALTER VIEW', 'CREATE MATERIALIZED VIEW',
          'ALTER MATERIALIZED VIEW', 'CREATE FUNCTION', 'ALTER FUNCTION', 'CREATE TRIGGER', 'CREATE TYPE',
          'ALTER TYPE', 'CREATE DOMAIN', 'ALTER DOMAIN', 'CREATE RULE', 'CREATE INDEX', 'CREATE CAST', 'COMMENT'
        )
        -- Privileges are not part of the catalog, but a GRANT may make a function or table visible that was hidden.
        or command.command_tag in ('GRANT', 'REVOKE')
      )
      and command.schema_name is distinct from 'pg_temp'
      and coalesce(command.object_identity, '') !~ '(^| on )pg_temp\.'
  ) then
    notify pgrst, 'reload schema';
  end if;
end
$$;

create or replace function extensions.pgrst_drop_watch() returns event_trigger
  language plpgsql
as $$
begin
  if current_setting('application_name') like 'citus\_%' then
    return;
  end if;
  if exists (
    select from pg_catalog.pg_event_trigger_dropped_objects() as object
    where object.object_type in (
        'schema', 'table', 'table column', 'table constraint', 'foreign table', 'view', 'materialized view', 'function',
        'trigger', 'type', 'domain', 'rule', 'index', 'cast'
      )
      and not object.is_temporary
  ) then
    notify pgrst, 'reload schema';
  end if;
end
$$;
