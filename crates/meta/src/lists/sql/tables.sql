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
  obj_description(c.oid, 'pg_class') as comment,
  (
    select coalesce(json_agg(json_build_object(
      'name', a.attname,
      'schema', n.nspname,
      'table_id', c.oid::int8,
      'table_name', c.relname
    ) order by part.position), '[]')
    from pg_constraint k
    cross join lateral unnest(k.conkey) with ordinality as part(attnum, position)
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = part.attnum
    where k.conrelid = c.oid and k.contype = 'p'
  ) as primary_keys,
  -- Foreign keys in both directions. One of several columns is listed once per pair of columns.
  (
    select coalesce(json_agg(json_build_object(
      'id', f.oid::int8,
      'constraint_name', f.conname,
      'source_schema', (select nspname from pg_namespace where oid = source.relnamespace),
      'source_table_name', source.relname,
      'source_column_name', source_column.attname,
      'target_table_schema', (select nspname from pg_namespace where oid = target.relnamespace),
      'target_table_name', target.relname,
      'target_column_name', target_column.attname
    ) order by f.conname, f.oid, pair.position), '[]')
    from pg_constraint f
    join pg_class source on source.oid = f.conrelid
    join pg_class target on target.oid = f.confrelid
    cross join lateral unnest(f.conkey, f.confkey) with ordinality as pair(from_attnum, to_attnum, position)
    join pg_attribute source_column on source_column.attrelid = source.oid and source_column.attnum = pair.from_attnum
    join pg_attribute target_column on target_column.attrelid = target.oid and target_column.attnum = pair.to_attnum
    where f.contype = 'f' and c.oid in (f.conrelid, f.confrelid)
      and source.relnamespace::regnamespace::text not in ('_selvedge', 'selvedge_console')
  ) as relationships
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
cross join lateral (select pg_total_relation_size(c.oid) as bytes) disk
where c.relkind in ('r', 'p')
  and not pg_is_other_temp_schema(n.oid)
  and (
    pg_has_role(c.relowner, 'usage')
    or has_table_privilege(c.oid, 'select, insert, update, delete, truncate, references, trigger')
    or has_any_column_privilege(c.oid, 'select, insert, update, references')
  )
