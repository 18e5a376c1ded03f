-- The given types, with the base types of domains and the element types of arrays.
with recursive used (oid) as (
  select unnest($1::oid[])
  union
  select case t.typtype when 'd' then t.typbasetype else t.typelem end
  from used
  join pg_catalog.pg_type as t on t.oid = used.oid
  where t.typtype = 'd' or t.typcategory = 'A' and t.typelem <> 0
)
select
  t.oid,
  t.typtype::text as kind,
  case when t.typtype = 'd' then t.typbasetype when t.typcategory = 'A' then t.typelem else 0 end as inner_oid,
  -- to_jsonb() follows a cast to json where a type has one (hstore has).
  exists (
    select from pg_catalog.pg_cast as k
    where k.castsource = t.oid and k.casttarget = 'json'::regtype and k.castfunc <> 0
  ) as has_json_cast
from used
join pg_catalog.pg_type as t on t.oid = used.oid
