select
  c.oid::int8 as id,
  n.nspname as schema,
  c.relname as name,
  c.relrowsecurity as rls_enabled,
  c.relforcerowsecurity as rls_forced,
  (array['DEFAULT', 'INDEX', 'FULL', 'NOTHING'])[position(c.relreplident::text in 'difn')] as replica_identity,
  disk.bytes,
  pg_size_pretty(disk.bytes) as size,
  pg_stat_get_live_tuples(c.oid) as live_rows_estimate,
  pg_stat_get_dead_tuples(c.oid) as dead_rows_estimate,
  described.description as comment,
  (
    select coalesce(json_agg(json_build_object(
      'name', a.attname,
      'schema', n.nspname,
      'table_id', c.oid::int8,
      'table_name', c.relname
    ) order by array_position(k.conkey, a.attnum)), '[]')
    from pg_constraint k
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any (k.conkey)
    where k.conrelid = c.oid and k.contype = 'p'
  ) as primary_keys,
  coalesce(keys.relationships, '[]') as relationships
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
cross join lateral (select pg_total_relation_size(c.oid) as bytes) disk
left join pg_description described
  on described.objoid = c.oid and described.classoid = 'pg_class'::regclass and described.objsubid = 0
-- Foreign keys in both directions. One of several columns is listed once per pair of columns. They are read for all listed tables at
-- once: no index leads from a table to the keys that refer to it, so that for each table all keys would be read.
left join (
  select
    listed.oid,
    json_agg(json_build_object(
      'id', f.oid::int8,
      'constraint_name', f.conname,
      'source_schema', source_schema.nspname,
      'source_table_name', source.relname,
      'source_column_name', source_column.attname,
      'target_table_schema', target_schema.nspname,
      'target_table_name', target.relname,
      'target_column_name', target_column.attname
    ) order by f.conname, f.oid, pair.position) as relationships
  from pg_constraint f
  join pg_class source on source.oid = f.conrelid
  join pg_namespace source_schema on source_schema.oid = source.relnamespace
  join pg_class target on target.oid = f.confrelid
  join pg_namespace target_schema on target_schema.oid = target.relnamespace
  cross join lateral (
    select f.conrelid as oid, source_schema.nspname as schema
    union
    select f.confrelid, target_schema.nspname
  ) listed
  cross join lateral unnest(f.conkey, f.confkey) with ordinality as pair(from_attnum, to_attnum, position)
  join pg_attribute source_column on source_column.attrelid = source.oid and source_column.attnum = pair.from_attnum
  join pg_attribute target_column on target_column.attrelid = target.oid and target_column.attnum = pair.to_attnum
  where f.contype = 'f'
    and source_schema.nspname not in ('_selvedge', 'selvedge_console')
    and ($1::text[] is null or listed.schema = any ($1))
    and ($2::text[] is null or listed.schema <> all ($2))
    and ($3::text[] is null or listed.oid::text = any ($3))
  group by listed.oid
) keys on keys.oid = c.oid
where c.relkind in ('r', 'p')
  and not pg_is_other_temp_schema(n.oid)
  and (
    pg_has_role(c.relowner, 'usage')
    or has_table_privilege(c.oid, 'select, insert, update, delete, truncate, references, trigger')
    or has_any_column_privilege(c.oid, 'select, insert, update, references')
  )
