-- Computed relationships: functions from one relation's row type to another's. `rows 1` promises at most one row.
select
  n.nspname::text as schema,
  p.proname::text as name,
  arg_schema.nspname::text as origin_schema,
  arg.typname::text as origin_name,
  ret_schema.nspname::text as target_schema,
  ret.typname::text as target_name,
  not p.proretset or p.prorows = 1 as single
from pg_catalog.pg_proc p
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
join pg_catalog.pg_type arg on arg.oid = p.proargtypes[0]
join pg_catalog.pg_namespace arg_schema on arg_schema.oid = arg.typnamespace
join pg_catalog.pg_type ret on ret.oid = p.prorettype
join pg_catalog.pg_namespace ret_schema on ret_schema.oid = ret.typnamespace
join pg_catalog.pg_class origin on origin.oid = arg.typrelid and origin.relkind in ('r', 'v', 'm', 'f', 'p')
join pg_catalog.pg_class target on target.oid = ret.typrelid and target.relkind in ('r', 'v', 'm', 'f', 'p')
where p.pronargs = 1;
