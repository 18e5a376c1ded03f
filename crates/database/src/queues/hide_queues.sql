-- Takes back what expose_queues.sql has made and granted. Rights on single queues, which their owner has given, stay; without usage of
-- the schema they give nothing.
do $$
declare
  signature text;
begin
  foreach signature in array array[
    'send(text, jsonb, integer)', 'send_batch(text, jsonb[], integer)', 'read(text, integer, integer)',
    'pop(text)', 'archive(text, bigint)', 'delete(text, bigint)'
  ] loop
    begin
      execute pg_catalog.concat('drop function if exists pgmq_public.', signature);
    exception when dependent_objects_still_exist or insufficient_privilege then
      raise warning 'pgmq_public.% stays, as objects of the project need it', signature;
    end;
  end loop;
  -- Outside of the next block, which takes back what it did when the schema stays.
  if exists (
    select from pg_catalog.pg_namespace as n
    where n.nspname operator(pg_catalog.=) 'pgmq_public' and pg_catalog.pg_has_role(n.nspowner, 'usage')
      and pg_catalog.obj_description(n.oid, 'pg_namespace')
        operator(pg_catalog.=) 'Queues over the data API, made by Selvedge (1)'
  ) then
    comment on schema pgmq_public is null;
  end if;
  -- Whatever else the project has put there stays, and so does the schema then.
  begin
    drop schema if exists pgmq_public;
  exception when dependent_objects_still_exist or insufficient_privilege then
    raise warning 'the schema pgmq_public stays, as the project has objects of its own in it, or another role owns it';
  end;
  if exists (select from pg_catalog.pg_namespace where nspname operator(pg_catalog.=) 'pgmq') then
    revoke usage on schema pgmq from anon, authenticated, service_role;
    alter default privileges in schema pgmq revoke usage, select, update on sequences from anon, authenticated, service_role;
    alter default privileges in schema pgmq revoke all on tables from service_role;
  end if;
end
$$;
