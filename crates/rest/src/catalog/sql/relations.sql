-- Relations of the exposed schemas ($1) with their columns. Partitions have no endpoints. base_types resolves domains to
-- their base type, which matters for full-text search and OpenAPI.
-- The relations are found by their dependencies on the schemas, for which there is an index: among thousands of other schemas
-- pg_class would have to be read as a whole, and pg_type for the domains.
with recursive exposed as (
  select d.objid as oid
  from pg_catalog.pg_namespace s
  join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_namespace'::regclass and d.refobjid = s.oid
    and d.classid = 'pg_catalog.pg_class'::regclass
  where s.nspname = any ($1)
),
base_types as (
  select t.oid, t.oid as base, t.typbasetype as next
  from pg_catalog.pg_type t
  where t.typbasetype <> 0
    and t.oid = any (array(
      select a.atttypid from pg_catalog.pg_attribute a where a.attrelid in (select oid from exposed)))
  union all
  select b.oid, t.oid, t.typbasetype
  from base_types b join pg_catalog.pg_type t on t.oid = b.next
  where b.next <> 0
),
columns as (
  select
    a.attrelid as relation,
    json_agg(json_build_object(
      'name', a.attname,
      'comment', d.description,
      'nullable', not (a.attnotnull or (t.typtype = 'd' and t.typnotnull)),
      'data_type', case
        when t.typtype = 'd' then
          case when bt.typnamespace = 'pg_catalog'::regnamespace
            then pg_catalog.format_type(coalesce(b.base, t.oid), null)
            else pg_catalog.format_type(a.atttypid, a.atttypmod) end
        when t.typnamespace = 'pg_catalog'::regnamespace then pg_catalog.format_type(a.atttypid, null)
        else pg_catalog.format_type(a.atttypid, a.atttypmod) end,
      'declared_type', pg_catalog.format_type(a.atttypid, a.atttypmod),
      'base_type', pg_catalog.format_type(coalesce(b.base, t.oid), null),
      'max_length', information_schema._pg_char_max_length(
        information_schema._pg_truetypid(a.*, t.*), information_schema._pg_truetypmod(a.*, t.*)),
      'default', case
        when t.typbasetype <> 0 and ad.adbin is null then pg_catalog.pg_get_expr(t.typdefaultbin, 0)
        when a.attidentity = 'd' then format('nextval(%L)', seq.objid::regclass)
        when a.attgenerated <> '' then null
        else pg_catalog.pg_get_expr(ad.adbin, ad.adrelid) end,
      'enum', coalesce((select json_agg(e.enumlabel order by e.enumsortorder)
                        from pg_catalog.pg_enum e where e.enumtypid = coalesce(b.base, t.oid)), '[]')
    ) order by a.attnum) as columns
  from pg_catalog.pg_attribute a
  join pg_catalog.pg_class c on c.oid = a.attrelid
  join pg_catalog.pg_type t on t.oid = a.atttypid
  left join base_types b on b.oid = t.oid and b.next = 0
  join pg_catalog.pg_type bt on bt.oid = coalesce(b.base, t.oid)
  left join pg_catalog.pg_attrdef ad on ad.adrelid = a.attrelid and ad.adnum = a.attnum
  left join pg_catalog.pg_description d
    on d.objoid = a.attrelid and d.objsubid = a.attnum and d.classoid = 'pg_catalog.pg_class'::regclass
  left join pg_catalog.pg_depend seq
    on seq.refclassid = 'pg_catalog.pg_class'::regclass and seq.refobjid = a.attrelid and seq.refobjsubid = a.attnum
       and seq.deptype = 'i' and seq.classid = 'pg_catalog.pg_class'::regclass
  where a.attnum > 0 and not a.attisdropped
    and c.relkind in ('r', 'v', 'f', 'm', 'p')
    -- an array, so that PostgreSQL uses the index and does not read the columns of other schemas
    and a.attrelid = any (array(select oid from exposed))
  group by a.attrelid
)
select
  c.oid as oid,
  n.nspname::text as schema,
  c.relname::text as name,
  d.description as comment,
  c.relkind in ('v', 'm') as is_view,
  -- the bits are 1 << CMD_UPDATE (4), CMD_INSERT (8) and CMD_DELETE (16); `true` includes INSTEAD OF triggers
  c.relkind in ('r', 'p') or c.relkind in ('v', 'f')
    and pg_catalog.pg_relation_is_updatable(c.oid, true) & 8 = 8 as insertable,
  c.relkind in ('r', 'p') or c.relkind in ('v', 'f')
    and pg_catalog.pg_relation_is_updatable(c.oid, true) & 4 = 4 as updatable,
  c.relkind in ('r', 'p') or c.relkind in ('v', 'f')
    and pg_catalog.pg_relation_is_updatable(c.oid, true) & 16 = 16 as deletable,
  -- 6: the bits of BEFORE (2) and INSERT (4); such a trigger or a rule may drop the row
  c.relkind = 'r' and not c.relhasrules and not exists (
    select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and t.tgtype & 6 = 6) as inserts_plainly,
  coalesce(cols.columns, '[]') as columns
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
left join pg_catalog.pg_description d
  on d.objoid = c.oid and d.objsubid = 0 and d.classoid = 'pg_catalog.pg_class'::regclass
left join columns cols on cols.relation = c.oid
where c.relkind in ('r', 'v', 'm', 'f', 'p')
  and c.oid = any (array(select oid from exposed))
  and n.nspname not in ('pg_catalog', 'information_schema')
  and not c.relispartition
order by n.nspname, c.relname;
