-- The bits of tgtype are documented in PostgreSQL's catalog/pg_trigger.h: 1 row, 2 before, 64 instead of, then the events.
select
  t.oid::text as oid, n.nspname::text as schema, t.tgname::text as name, c.relname::text as table_name,
  jsonb_build_object(
    'table_oid', c.oid::text,
    'timing', case when t.tgtype & 2 <> 0 then 'before' when t.tgtype & 64 <> 0 then 'instead of' else 'after' end,
    'events', to_jsonb(array_remove(array[
      case when t.tgtype & 4 <> 0 then 'insert' end,
      case when t.tgtype & 8 <> 0 then 'delete' end,
      case when t.tgtype & 16 <> 0 then 'update' end,
      case when t.tgtype & 32 <> 0 then 'truncate' end], null)),
    'level', case when t.tgtype & 1 <> 0 then 'row' else 'statement' end,
    'function', t.tgfoid::regproc::text,
    'function_oid', t.tgfoid::text,
    'enabled', case t.tgenabled when 'D' then 'disabled' when 'R' then 'replica' when 'A' then 'always' else 'origin' end,
    -- The condition names two rows, old and new, which pg_get_expr cannot write.
    'condition', substring(pg_get_triggerdef(t.oid, true) from ' WHEN \((.*)\) EXECUTE (?:FUNCTION|PROCEDURE) '),
    'definition', pg_get_triggerdef(t.oid, true),
    'comment', obj_description(t.oid, 'pg_trigger')
  )::text as details
from pg_trigger t
join pg_class c on c.oid = t.tgrelid
join pg_namespace n on n.oid = c.relnamespace
where not t.tgisinternal
  and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  and ($1::text is null or n.nspname = $1)
order by n.nspname, c.relname, t.tgname
