-- A foreign key of a partitioned table is repeated for each partition; the repetitions have a parent and are left out.
select
  k.conname as name,
  k.conrelid::text as table,
  k.confrelid::text as target,
  (select array_agg(a.attname::text order by p.position)
    from unnest(k.conkey) with ordinality as p(attnum, position)
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = p.attnum) as columns,
  (select array_agg(a.attname::text order by p.position)
    from unnest(k.confkey) with ordinality as p(attnum, position)
    join pg_attribute a on a.attrelid = k.confrelid and a.attnum = p.attnum) as target_columns,
  k.confdeltype::text as on_delete,
  k.confupdtype::text as on_update
from pg_constraint k
where k.contype = 'f' and k.conparentid = 0
order by k.conrelid, k.conname
