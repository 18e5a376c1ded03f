-- When each table was vacuumed and analyzed, and whether the next time is due. A table's own settings win over the server's.
with thresholds as (
  select t.relid, c.reltuples,
    setting.vacuum_threshold + setting.vacuum_scale * greatest(c.reltuples, 0) as vacuum_after,
    setting.analyze_threshold + setting.analyze_scale * greatest(c.reltuples, 0) as analyze_after
  from pg_catalog.pg_stat_user_tables t
  join pg_catalog.pg_class c on c.oid = t.relid
  cross join lateral (
    select
      max(value) filter (where name = 'autovacuum_vacuum_threshold') as vacuum_threshold,
      max(value) filter (where name = 'autovacuum_vacuum_scale_factor') as vacuum_scale,
      max(value) filter (where name = 'autovacuum_analyze_threshold') as analyze_threshold,
      max(value) filter (where name = 'autovacuum_analyze_scale_factor') as analyze_scale
    from (
      select s.name, coalesce(o.option_value, s.setting)::float8 as value
      from pg_catalog.pg_settings s
      left join pg_options_to_table(c.reloptions) o on o.option_name = s.name
      where s.name like 'autovacuum\_%'
        and s.name ~ '_(vacuum|analyze)_(threshold|scale_factor)$'
    ) effective
  ) setting
)
select
  format('%I.%I', t.schemaname, t.relname) as name,
  coalesce(to_char(t.last_vacuum, 'YYYY-MM-DD HH24:MI'), '') as last_vacuum,
  coalesce(to_char(t.last_autovacuum, 'YYYY-MM-DD HH24:MI'), '') as last_autovacuum,
  coalesce(to_char(t.last_analyze, 'YYYY-MM-DD HH24:MI'), '') as last_analyze,
  coalesce(to_char(t.last_autoanalyze, 'YYYY-MM-DD HH24:MI'), '') as last_autoanalyze,
  to_char(d.reltuples, '9G999G999G999') as rowcount,
  to_char(t.n_dead_tup, '9G999G999G999') as dead_rowcount,
  to_char(d.vacuum_after, '9G999G999G999') as autovacuum_threshold,
  case when t.n_dead_tup > d.vacuum_after then 'yes' else 'no' end as expect_autovacuum,
  to_char(d.analyze_after, '9G999G999G999') as autoanalyze_threshold,
  case when t.n_mod_since_analyze > d.analyze_after then 'yes' else 'no' end as expect_autoanalyze
from pg_catalog.pg_stat_user_tables t
join thresholds d on d.relid = t.relid
where not t.schemaname like any (current_setting('inspect.left_out')::text[])
-- Tables that were never analyzed (-1 rows) come last.
order by d.reltuples = -1, name
