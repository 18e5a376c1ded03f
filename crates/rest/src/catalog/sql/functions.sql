-- Callable functions of the exposed schemas ($1); those of their settings that $2 names apply to the request's transaction.
with recursive base_types as (
  select t.oid, t.oid as base, t.typbasetype as next
  from pg_catalog.pg_type t
  where t.typbasetype <> 0
    -- an array, so that PostgreSQL uses the index and does not read the types of other schemas
    and t.oid = any (array(
      select p.prorettype from pg_catalog.pg_proc p
      where p.pronamespace in (select oid from pg_catalog.pg_namespace where nspname = any ($1))))
  union all
  select b.oid, t.oid, t.typbasetype
  from base_types b join pg_catalog.pg_type t on t.oid = b.next
  where b.next <> 0
),
arguments as (
  select
    p.oid,
    json_agg(json_build_object(
      'name', coalesce(arg.name, ''),
      'type', arg.type::regtype::text,
      -- in a cast, bit and character without a length mean a length of one, which would cut the value
      'wide_type', case arg.type
        when 'bit'::regtype then 'bit varying'
        when 'bit[]'::regtype then 'bit varying[]'
        when 'character'::regtype then 'character varying'
        when 'character[]'::regtype then 'character varying[]'
        else arg.type::regtype::text end,
      'required', arg.position <= p.pronargs - p.pronargdefaults,
      'variadic', coalesce(arg.mode = 'v', false)
    ) order by arg.position) as parameters,
    -- arguments go by name, so either every parameter has one, or the only one takes the whole body
    case count(*) - count(nullif(arg.name, ''))
      when 0 then true
      when 1 then count(*) = 1 and (array_agg(arg.type))[1]
        in ('bytea'::regtype, 'json'::regtype, 'jsonb'::regtype, 'text'::regtype, 'xml'::regtype)
      else false end as callable
  from pg_catalog.pg_proc p,
    unnest(p.proargnames, p.proargtypes, p.proargmodes) with ordinality as arg (name, type, mode, position)
  where arg.type is not null
    and p.pronamespace in (select oid from pg_catalog.pg_namespace where nspname = any ($1))
  group by p.oid
)
select
  p.oid as oid,
  n.nspname::text as schema,
  p.proname::text as name,
  d.description as comment,
  coalesce(a.parameters, '[]') as parameters,
  tn.nspname::text as return_schema,
  coalesce(comp.relname, t.typname)::text as return_name,
  p.proretset as returns_set,
  t.typtype = 'c' or coalesce(p.proargmodes::text[] && '{t,b,o}', false) as returns_composite,
  -- the column's name, if there is one column whose type is not a row type
  case when t.typtype <> 'c' then (
    select min(arg.name) from unnest(p.proargnames, p.proargmodes) as arg (name, mode)
    where arg.mode in ('t', 'b', 'o') having count(*) = 1) end as only_column,
  p.provolatile::text as volatility,
  (select split_part(split_part(setting, '=', 2), ',', 1) from unnest(p.proconfig) setting
   where setting like 'default_transaction_isolation=%') as isolation,
  coalesce((select json_agg(json_build_array(
              substr(setting, 1, strpos(setting, '=') - 1), substr(setting, strpos(setting, '=') + 1)))
            from unnest(p.proconfig) setting
            where split_part(setting, '=', 1) = any ($2)), '[]') as settings
from pg_catalog.pg_proc p
left join arguments a on a.oid = p.oid
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
left join base_types b on b.oid = p.prorettype and b.next = 0
join pg_catalog.pg_type t on t.oid = coalesce(b.base, p.prorettype)
join pg_catalog.pg_namespace tn on tn.oid = t.typnamespace
left join pg_catalog.pg_class comp on comp.oid = t.typrelid
left join pg_catalog.pg_description d
  on d.objoid = p.oid and d.classoid = 'pg_catalog.pg_proc'::regclass and d.objsubid = 0
where t.oid <> 'trigger'::regtype
  and p.prokind = 'f'
  and coalesce(a.callable, true)
  and n.nspname = any ($1);
