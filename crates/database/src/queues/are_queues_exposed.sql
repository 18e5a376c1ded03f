-- Whether expose_queues.sql would change nothing: its mark, the six functions, and the rights without which they do nothing. The mark alone may
-- come with a dump, and functions go with the extension.
select
  pg_catalog.obj_description(pg_catalog.to_regnamespace('pgmq_public'), 'pg_namespace')
    is not distinct from 'Queues over the data API, made by Selvedge (1)'
  and not exists (
    select from pg_catalog.unnest(array[
      'send(text, jsonb, integer)', 'send_batch(text, jsonb[], integer)', 'read(text, integer, integer)',
      'pop(text)', 'archive(text, bigint)', 'delete(text, bigint)'
    ]) as signature
    where pg_catalog.to_regprocedure(pg_catalog.concat('pgmq_public.', signature)) is null
  )
  and not exists (
    select
    from pg_catalog.unnest(array['anon', 'authenticated', 'service_role']) as r (name)
    cross join pg_catalog.unnest(array['pgmq', 'pgmq_public']) as s (name)
    where not coalesce(
      pg_catalog.has_schema_privilege(r.name, pg_catalog.to_regnamespace(s.name)::pg_catalog.oid, 'usage'), false
    )
  )
