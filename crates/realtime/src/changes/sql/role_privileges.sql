-- Which columns of the given tables a role may select, by number: names may have changed since the tables were read; and whether it
-- may select the system column xmin (attribute -2), for which the right to the whole table is needed.
select
  c.oid,
  coalesce(
    array_agg(a.attnum order by a.attnum)
      filter (where pg_catalog.has_column_privilege($1::name, c.oid, a.attnum, 'SELECT')),
    '{}'
  ) as columns,
  pg_catalog.has_column_privilege($1::name, c.oid, (-2)::int2, 'SELECT') as reads_versions
from pg_catalog.pg_class as c
join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.oid = any ($2::oid[])
group by c.oid
