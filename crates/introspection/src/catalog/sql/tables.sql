-- Sizes are those of the last VACUUM or ANALYZE: the exact functions wait for the lock of a table that is being altered,
-- and one such table would hold up the whole catalog.
select
  c.oid::text as oid,
  n.nspname as schema,
  c.relname as name,
  c.relkind::text as kind,
  c.relrowsecurity as rls,
  case when c.reltuples >= 0 then c.reltuples::int8 end as rows,
  case when c.relkind in ('r', 'm', 'p') then
    (greatest(c.relpages, 0)::int8
      + coalesce((select sum(i.relpages) from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c.oid), 0)
      + coalesce((select t.relpages from pg_class t where t.oid = c.reltoastrelid), 0)
    ) * current_setting('block_size')::int8
  end as bytes,
  d.description as comment,
  coalesce(k.columns, '{}') as key,
  -- The login's privileges on the table: i insert, u update, d delete, o alter (owners only).
  case when has_schema_privilege(n.oid, 'usage') then concat(
    case when has_any_column_privilege(c.oid, 'insert') then 'i' end,
    case when has_any_column_privilege(c.oid, 'update') then 'u' end,
    case when has_table_privilege(c.oid, 'delete') then 'd' end,
    case when pg_has_role(c.relowner, 'usage') then 'o' end) else '' end as rights
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
left join pg_description d on d.objoid = c.oid and d.objsubid = 0 and d.classoid = 'pg_class'::regclass
-- The primary key, else the smallest unique index over columns that are never null.
left join lateral (
  select array_agg(a.attname::text order by p.position) as columns
  from (
    select i.indexrelid, i.indkey
    from pg_index i
    where i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indimmediate
      and i.indpred is null and i.indexprs is null
      and not exists (
        select from unnest(i.indkey[0:i.indnkeyatts - 1]) as part(attnum)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = part.attnum
        where not a.attnotnull
      )
    order by i.indisprimary desc, i.indnkeyatts, i.indexrelid
    limit 1
  ) best
  join pg_index i on i.indexrelid = best.indexrelid
  cross join lateral unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as p(attnum, position)
  join pg_attribute a on a.attrelid = c.oid and a.attnum = p.attnum
) k on true
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  and ($1::text is null or c.oid = $1::text::oid)
order by n.nspname, c.relname
