-- Sizes of the database, and how often a block was found in memory.
with sizes as (
  select
    sum(pg_relation_size(c.oid)) filter (where c.relkind = 'i') as indexes,
    sum(pg_relation_size(c.oid)) filter (where c.relkind = 'r') as tables,
    sum(pg_relation_size(c.oid)) filter (where c.relkind = 't') as toast
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where not n.nspname like any (current_setting('inspect.left_out')::text[])
)
select
  pg_size_pretty(pg_database_size(current_database())) as database_size,
  pg_size_pretty(coalesce(indexes, 0)) as total_index_size,
  pg_size_pretty(coalesce(tables, 0)) as total_table_size,
  pg_size_pretty(coalesce(toast, 0)) as total_toast_size,
  coalesce((select (now() - stats_reset)::text from extensions.pg_stat_statements_info), 'N/A') as time_since_stats_reset,
  coalesce((
    select round(sum(i.idx_blks_hit) / nullif(sum(i.idx_blks_hit + i.idx_blks_read), 0), 2)::text
    from pg_catalog.pg_statio_user_indexes i
    where not i.schemaname like any (current_setting('inspect.left_out')::text[])
  ), 'N/A') as index_hit_rate,
  coalesce((
    select round(sum(t.heap_blks_hit) / nullif(sum(t.heap_blks_hit + t.heap_blks_read), 0), 2)::text
    from pg_catalog.pg_statio_user_tables t
    where not t.schemaname like any (current_setting('inspect.left_out')::text[])
  ), 'N/A') as table_hit_rate,
  (select pg_size_pretty(coalesce(sum(w.size), 0)) from pg_ls_waldir() w) as wal_size
from sizes
