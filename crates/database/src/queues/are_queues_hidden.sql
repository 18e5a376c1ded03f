-- Whether hide_queues.sql would change nothing: no mark, none of the functions that can be dropped, no empty schema, and no right. What
-- objects of the project need, and what another role owns, stays.
select
  not exists (
    select from pg_catalog.pg_namespace as n
    where n.nspname = 'pgmq_public' and pg_catalog.pg_has_role(n.nspowner, 'usage')
      and pg_catalog.obj_description(n.oid, 'pg_namespace') = 'Queues over the data API, made by Selvedge (1)'
  )
  and not exists (
    select
    from pg_catalog.unnest(array[
      'send(text, jsonb, integer)', 'send_batch(text, jsonb[], integer)', 'read(text, integer, integer)',
      'pop(text)', 'archive(text, bigint)', 'delete(text, bigint)'
    ]) as signature
    join pg_catalog.pg_proc as p on p.oid = pg_catalog.to_regprocedure(pg_catalog.concat('pgmq_public.', signature))
    where pg_catalog.pg_has_role(p.proowner, 'usage')
      and not exists (
        select from pg_catalog.pg_depend as d
        where d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.refobjid = p.oid
      )
  )
  and not exists (
    select from pg_catalog.pg_namespace as n
    where n.nspname = 'pgmq_public' and pg_catalog.pg_has_role(n.nspowner, 'usage')
      and not exists (
        select from pg_catalog.pg_depend as d
        where d.refclassid = 'pg_catalog.pg_namespace'::pg_catalog.regclass and d.refobjid = n.oid
      )
  )
  and not exists (
    select from pg_catalog.unnest(array['anon', 'authenticated', 'service_role']) as r (name)
    where pg_catalog.has_schema_privilege(r.name, pg_catalog.to_regnamespace('pgmq')::pg_catalog.oid, 'usage')
  )
