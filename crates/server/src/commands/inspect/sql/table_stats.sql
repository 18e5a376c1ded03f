-- Size and estimated number of rows of each table.
select
  format('%I.%I', t.schemaname, t.relname) as name,
  pg_size_pretty(pg_table_size(t.relid)) as table_size,
  pg_size_pretty(pg_indexes_size(t.relid)) as index_size,
  pg_size_pretty(pg_total_relation_size(t.relid)) as total_size,
  t.n_live_tup as estimated_row_count,
  t.seq_scan as seq_scans
from pg_catalog.pg_stat_user_tables t
where not t.schemaname like any (current_setting('inspect.left_out')::text[])
order by pg_total_relation_size(t.relid) desc, name
