-- Takes back what expose_queues.sql has made and granted. Rights on single queues, which their owner has given, stay; without usage of
-- the schema they give nothing.
do $$
begin
  drop function if exists pgmq_public.send(text, jsonb, integer);
  drop function if exists pgmq_public.send_batch(text, jsonb[], integer);
  drop function if exists pgmq_public.read(text, integer, integer);
  drop function if exists pgmq_public.pop(text);
  drop function if exists pgmq_public.archive(text, bigint);
  drop function if exists pgmq_public.delete(text, bigint);
  -- Whatever else the project has put there stays, and so does the schema then.
  begin
    drop schema if exists pgmq_public;
  exception when dependent_objects_still_exist then
    raise warning 'the schema pgmq_public stays, as the project has objects of its own in it';
  end;
  if exists (select from pg_catalog.pg_namespace where nspname operator(pg_catalog.=) 'pgmq') then
    revoke usage on schema pgmq from anon, authenticated, service_role;
    alter default privileges in schema pgmq revoke usage, select, update on sequences from anon, authenticated, service_role;
    alter default privileges in schema pgmq revoke all on tables from service_role;
  end if;
end
$$;
