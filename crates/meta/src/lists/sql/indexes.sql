select
  i.indexrelid::int8 as id,
  i.indrelid::int8 as table_id,
  n.nspname as schema,
  i.indnatts as number_of_attributes,
  i.indnkeyatts as number_of_key_attributes,
  i.indisunique as is_unique,
  i.indisprimary as is_primary,
  i.indisexclusion as is_exclusion,
  i.indimmediate as is_immediate,
  i.indisclustered as is_clustered,
  i.indisvalid as is_valid,
  i.indcheckxmin as check_xmin,
  i.indisready as is_ready,
  i.indislive as is_live,
  i.indisreplident as is_replica_identity,
  i.indkey::int2[] as key_attributes,
  i.indcollation::int8[] as collation,
  i.indclass::int8[] as class,
  i.indoption::int2[] as options,
  pg_get_expr(i.indpred, i.indrelid) as index_predicate,
  obj_description(i.indexrelid, 'pg_class') as comment,
  pg_get_indexdef(i.indexrelid) as index_definition,
  method.amname as access_method,
  -- Expressions have no column, so they are only in the definition.
  (
    select coalesce(json_agg(json_build_object(
      'attribute_number', a.attnum,
      'attribute_name', a.attname,
      'data_type', format_type(a.atttypid, a.atttypmod)
    ) order by a.attnum), '[]')
    from pg_attribute a
    where a.attrelid = i.indrelid and a.attnum = any (i.indkey::int2[])
  ) as index_attributes
from pg_index i
join pg_class c on c.oid = i.indexrelid
join pg_namespace n on n.oid = c.relnamespace
join pg_am method on method.oid = c.relam
