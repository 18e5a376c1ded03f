-- Space that dead rows and empty places keep in tables and indexes: what they occupy, compared with what their rows should
-- need by the widths that ANALYZE has measured. An estimate; without statistics a relation counts as empty.
with widths as (
  select a.attrelid, a.attnum, (1 - s.null_frac) * s.avg_width as bytes
  from pg_catalog.pg_stats s
  join pg_catalog.pg_namespace n on n.nspname = s.schemaname
  join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = s.tablename
  join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = s.attname
  where not n.nspname like any (current_setting('inspect.left_out')::text[])
),
-- A row of a table has a header of 24 bytes and a pointer of 4; an entry of an index 8 and 4, in pages that are filled to 90 %.
relations as (
  select 'table' as type, format('%I.%I', n.nspname, c.relname) as name, c.relpages,
    c.reltuples * (28 + sum(w.bytes)) as needed
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join widths w on w.attrelid = c.oid
  group by n.nspname, c.oid, c.relname, c.relpages, c.reltuples
  union all
  select 'index', format('%I.%I::%I', n.nspname, c.relname, e.relname), e.relpages,
    e.reltuples * (12 + sum(w.bytes)) / 0.9
  from pg_catalog.pg_index i
  join pg_catalog.pg_class e on e.oid = i.indexrelid
  join pg_catalog.pg_class c on c.oid = i.indrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join widths w on w.attrelid = i.indrelid and w.attnum = any (i.indkey)
  group by n.nspname, c.relname, e.oid, e.relname, e.relpages, e.reltuples
),
pages as (
  -- A page has a header of 24 bytes.
  select type, name, relpages, ceil(greatest(needed, 0) / (current_setting('block_size')::int - 24))::bigint as needed_pages
  from relations
)
select
  type,
  name,
  case when needed_pages = 0 then 0.0 else round(relpages::numeric / needed_pages, 1) end as bloat,
  pg_size_pretty(greatest(relpages - needed_pages, 0) * current_setting('block_size')::bigint) as waste
from pages
order by greatest(relpages - needed_pages, 0) desc, bloat desc, name
