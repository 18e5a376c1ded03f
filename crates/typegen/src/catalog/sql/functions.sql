-- Functions of the schemas $1 that return something else than a trigger's result.
-- Source: postgres-meta 0.98, functions.sql.ts. As there, the flags of defaults are matched with all
-- arguments by position, so an output argument before an input argument shifts them.
select
  n.nspname::text as schema,
  p.proname::text as name,
  pg_get_function_arguments(p.oid) as argument_types,
  pg_get_function_result(p.oid) as return_type,
  p.prorettype as return_type_id,
  nullif(rt.typrelid, 0) as return_type_relation_id,
  p.proretset as is_set_returning,
  p.proretset and p.prorows > 1 as returns_many_rows,
  coalesce((
    select jsonb_agg(jsonb_build_object(
      'mode', coalesce(arguments.mode, 'i'),
      'name', coalesce(arguments.name, ''),
      'type_id', arguments.type_id::int8,
      'has_default', coalesce(arguments.has_default, false)
    ) order by arguments.position)
    from rows from (
      unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])),
      unnest(p.proargmodes::text[]),
      unnest(p.proargnames),
      unnest(array_fill(false, array[p.pronargs - p.pronargdefaults]) || array_fill(true, array[p.pronargdefaults::int]))
    ) with ordinality as arguments (type_id, mode, name, has_default, position)
    where arguments.type_id is not null
  ), '[]') as arguments
from pg_catalog.pg_proc p
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
left join pg_catalog.pg_type rt on rt.oid = p.prorettype
where n.nspname = any ($1)
  and p.prokind = 'f'
  and pg_get_function_result(p.oid) not in ('trigger', 'event_trigger')
order by p.oid;
