-- The bits of `tgtype` are those of PostgreSQL's pg_trigger.h: 1 row, 2 before, 4 insert, 8 delete, 16 update, 32 truncate, 64
-- instead of.
select
  g.oid::int8 as id,
  g.tgrelid::int8 as table_id,
  case g.tgenabled when 'O' then 'ORIGIN' when 'R' then 'REPLICA' when 'A' then 'ALWAYS' else 'DISABLED' end as enabled_mode,
  -- The arguments end with a zero byte each, which `escape` writes as \000.
  to_json((string_to_array(encode(g.tgargs, 'escape'), '\000'))[:g.tgnargs]) as function_args,
  g.tgname as name,
  c.relname as table,
  n.nspname as schema,
  substring(pg_get_triggerdef(g.oid) from ' WHEN \((.+)\) EXECUTE FUNCTION ') as condition,
  case when g.tgtype & 1 = 1 then 'ROW' else 'STATEMENT' end as orientation,
  case when g.tgtype & 64 = 64 then 'INSTEAD OF' when g.tgtype & 2 = 2 then 'BEFORE' else 'AFTER' end as activation,
  array_remove(array[
    case when g.tgtype & 4 = 4 then 'INSERT' end,
    case when g.tgtype & 8 = 8 then 'DELETE' end,
    case when g.tgtype & 16 = 16 then 'UPDATE' end,
    case when g.tgtype & 32 = 32 then 'TRUNCATE' end
  ], null) as events,
  p.proname as function_name,
  pn.nspname as function_schema
from pg_trigger g
join pg_class c on c.oid = g.tgrelid
join pg_namespace n on n.oid = c.relnamespace
join pg_proc p on p.oid = g.tgfoid
join pg_namespace pn on pn.oid = p.pronamespace
where not g.tgisinternal
  -- Triggers by which this server guards tables of the platform.
  and pn.nspname not in ('_selvedge', 'selvedge_console')
