-- Indexes that can return rows in the order of columns: each as its columns up to the first expression.
select i.indisprimary, i.indisunique and i.indimmediate and i.indexprs is null
    and not exists (
      select from unnest(i.indkey[0:i.indnkeyatts - 1]) as part(attnum)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = part.attnum
      where not a.attnotnull) as is_key,
  array(
    select a.attname::text
    from unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as p(attnum, position)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = p.attnum
    where p.position < coalesce((select min(q.position)
      from unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as q(attnum, position) where q.attnum = 0), 1000)
    order by p.position) as columns
from pg_index i
join pg_class x on x.oid = i.indexrelid
join pg_am m on m.oid = x.relam and m.amname = 'btree'
where i.indrelid = $1::text::oid and i.indisvalid and i.indpred is null
order by i.indisprimary desc, i.indnkeyatts, i.indexrelid
