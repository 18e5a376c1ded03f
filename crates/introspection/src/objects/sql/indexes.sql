select
  i.oid::text as oid, n.nspname::text as schema, i.relname::text as name, c.relname::text as table_name,
  jsonb_build_object(
    'table_oid', c.oid::text,
    'method', m.amname,
    'unique', x.indisunique,
    'primary', x.indisprimary,
    'valid', x.indisvalid,
    'columns', (select jsonb_agg(pg_get_indexdef(i.oid, position, true) order by position)
      from generate_series(1, x.indnkeyatts) as position),
    'included', coalesce((select jsonb_agg(pg_get_indexdef(i.oid, position, true) order by position)
      from generate_series(x.indnkeyatts + 1, x.indnatts) as position), '[]'),
    'predicate', pg_get_expr(x.indpred, x.indrelid, true),
    'constraint', (select k.conname from pg_constraint k where k.conindid = i.oid and k.conrelid = c.oid
      and k.contype in ('p', 'u', 'x') limit 1),
    'bytes', i.relpages::int8 * current_setting('block_size')::int8,
    'scans', s.idx_scan,
    'definition', pg_get_indexdef(i.oid),
    'comment', obj_description(i.oid, 'pg_class')
  )::text as details
from pg_index x
join pg_class i on i.oid = x.indexrelid
join pg_class c on c.oid = x.indrelid
join pg_namespace n on n.oid = c.relnamespace
join pg_am m on m.oid = i.relam
left join pg_stat_all_indexes s on s.indexrelid = i.oid
where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  and ($1::text is null or n.nspname = $1)
order by n.nspname, c.relname, i.relname
