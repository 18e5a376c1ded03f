-- Columns of the relations of the exposed schemas ($1), or of those with the oids $2, in the order of `select *`. base_types resolves domains to their base type, which
-- matters for full-text search and OpenAPI.
-- Thousands of columns have few types, whose names take the most time, so these are asked for once per type.
with recursive attributes as materialized (
  select a.attrelid, a.attnum, a.attname, a.attnotnull, a.atthasdef, a.attidentity, a.attgenerated, a.atttypid, a.atttypmod
  from pg_catalog.pg_attribute a
  where a.attnum > 0 and not a.attisdropped
    -- an array, so that PostgreSQL uses the index and does not read the columns of other schemas
    and a.attrelid = any (array(
      select d.objid
      from pg_catalog.pg_namespace s
      join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_namespace'::regclass and d.refobjid = s.oid
        and d.classid = 'pg_catalog.pg_class'::regclass
      join pg_catalog.pg_class c on c.oid = d.objid and c.relkind in ('r', 'v', 'f', 'm', 'p') and not c.relispartition
      where s.nspname = any ($1) and s.nspname not in ('pg_catalog', 'information_schema')
        and ($2 is null or c.oid = any ($2))))
),
base_types as (
  select t.oid, t.oid as base, t.typbasetype as next
  from pg_catalog.pg_type t
  where t.typbasetype <> 0 and t.oid = any (array(select distinct atttypid from attributes))
  union all
  select b.oid, t.oid, t.typbasetype
  from base_types b join pg_catalog.pg_type t on t.oid = b.next
  where b.next <> 0
),
types as materialized (
  select
    u.atttypid as oid,
    u.atttypmod as modifier,
    t.typtype = 'd' and t.typnotnull as is_required,
    case
      when t.typtype = 'd' then
        case when bt.typnamespace = 'pg_catalog'::regnamespace
          then pg_catalog.format_type(coalesce(b.base, t.oid), null)
          else pg_catalog.format_type(u.atttypid, u.atttypmod) end
      when t.typnamespace = 'pg_catalog'::regnamespace then pg_catalog.format_type(u.atttypid, null)
      else pg_catalog.format_type(u.atttypid, u.atttypmod) end as data_type,
    pg_catalog.format_type(u.atttypid, u.atttypmod) as declared_type,
    pg_catalog.format_type(coalesce(b.base, t.oid), null) as base_type,
    coalesce(b.base, t.oid) as base_type_oid,
    information_schema._pg_char_max_length(
      case when t.typtype = 'd' then t.typbasetype else u.atttypid end,
      case when t.typtype = 'd' then t.typtypmod else u.atttypmod end) as max_length,
    t.typbasetype <> 0 as is_domain,
    pg_catalog.pg_get_expr(t.typdefaultbin, 0) as domain_default,
    array(select e.enumlabel::text from pg_catalog.pg_enum e where e.enumtypid = coalesce(b.base, t.oid) order by e.enumsortorder) as labels
  from (select distinct atttypid, atttypmod from attributes) u
  join pg_catalog.pg_type t on t.oid = u.atttypid
  left join base_types b on b.oid = t.oid and b.next = 0
  join pg_catalog.pg_type bt on bt.oid = coalesce(b.base, t.oid)
)
select
  a.attrelid as relation,
  a.attname::text as name,
  d.description as comment,
  not (a.attnotnull or t.is_required) as nullable,
  t.data_type,
  t.declared_type,
  t.base_type,
  t.base_type_oid,
  t.max_length,
  case
    when t.is_domain and ad.adbin is null then t.domain_default
    when a.attidentity = 'd' then format('nextval(%L)', seq.objid::regclass)
    when a.attgenerated <> '' then null
    else pg_catalog.pg_get_expr(ad.adbin, ad.adrelid) end as default_value,
  t.labels
from attributes a
join types t on t.oid = a.atttypid and t.modifier = a.atttypmod
-- The index is not asked where the answer is known.
left join pg_catalog.pg_attrdef ad on ad.adrelid = case when a.atthasdef then a.attrelid end and ad.adnum = a.attnum
left join pg_catalog.pg_description d
  on d.objoid = a.attrelid and d.objsubid = a.attnum and d.classoid = 'pg_catalog.pg_class'::regclass
left join pg_catalog.pg_depend seq
  on seq.refclassid = 'pg_catalog.pg_class'::regclass and seq.refobjid = case when a.attidentity = 'd' then a.attrelid end
     and seq.refobjsubid = a.attnum and seq.deptype = 'i' and seq.classid = 'pg_catalog.pg_class'::regclass
order by a.attrelid, a.attnum;
