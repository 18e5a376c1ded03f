select t.nspname::text, t.relname::text, 'table', '',
  format('The table %s takes %s, of which about %s is empty.', t.quoted, pg_size_pretty(size.real),
    pg_size_pretty(size.real - size.expected)),
  format('vacuum (full) %s', t.quoted)
from project_relations t
cross join lateral (
  -- A row takes its columns and about 28 bytes of headers and alignment.
  select coalesce(sum(s.stawidth * (1 - s.stanullfrac)), 0) + 28 as bytes, count(*) as columns
  from (
    select p.avg_width as stawidth, p.null_frac as stanullfrac
    from pg_stats p where p.schemaname = t.nspname and p.tablename = t.relname and not p.inherited
  ) as s
) as row_size
cross join lateral (
  select t.relpages::bigint * 8192 as real, ceil(greatest(t.reltuples, 0)::numeric * row_size.bytes::numeric)::bigint as expected
) as size
where t.relkind in ('r', 'm') and row_size.columns > 0
  and size.real - size.expected > 8 * 1024 * 1024 and size.expected < size.real / 2
