-- The ten statements of this role that took most time in all.
select
  (s.total_exec_time * interval '1 millisecond')::text as total_exec_time,
  to_char(100 * s.total_exec_time / nullif(sum(s.total_exec_time) over (), 0), 'FM990D0') || '%' as prop_exec_time,
  to_char(s.calls, 'FM999G999G999G999G990') as ncalls,
  -- The columns with the times of reads and writes are called `shared_blk_…` from PostgreSQL 17 on, `blk_…` before.
  (
    select sum(value::text::float8) * interval '1 millisecond'
    from jsonb_each(to_jsonb(s))
    where key ~ '^(shared_)?blk_(read|write)_time$'
  )::text as sync_io_time,
  s.query
from extensions.pg_stat_statements s
where s.userid = quote_ident(current_user)::regrole
order by s.total_exec_time desc
limit 10
