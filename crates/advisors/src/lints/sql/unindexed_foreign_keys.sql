select t.nspname::text, t.relname::text, 'table', k.conname::text,
  format('The foreign key %I of %s has no index on its columns.', k.conname, t.quoted),
  format('create index on %s (%s)', t.quoted, columns.list)
from pg_constraint k
join project_relations t on t.oid = k.conrelid
cross join lateral (
  select string_agg(quote_ident(a.attname), ', ' order by n.place) as list
  from unnest(k.conkey) with ordinality as n (number, place)
  join pg_attribute a on a.attrelid = k.conrelid and a.attnum = n.number
) as columns
where k.contype = 'f' and not exists (
  select from pg_index i
  where i.indrelid = k.conrelid and i.indisvalid and i.indpred is null
    and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey
    and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] <@ k.conkey)
