with columns as (
  select a.attnum, concat_ws(' ',
    format('  %I %s', a.attname, format_type(a.atttypid, a.atttypmod)),
    case when a.attcollation <> 0 and a.attcollation <> t.typcollation then 'collate ' || a.attcollation::regcollation end,
    case
      when a.attgenerated = 's' then format('generated always as (%s) stored', pg_get_expr(e.adbin, e.adrelid))
      when a.attgenerated = 'v' then format('generated always as (%s)', pg_get_expr(e.adbin, e.adrelid))
      when a.attidentity <> '' then format('generated %s as identity (sequence name %s start %s increment %s minvalue %s maxvalue %s cache %s%s)',
        case a.attidentity when 'a' then 'always' else 'by default' end,
        s.seqrelid::regclass, s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, case when s.seqcycle then ' cycle' end)
      when e.oid is not null then 'default ' || pg_get_expr(e.adbin, e.adrelid)
    end,
    case when a.attnotnull then 'not null' end
  ) as definition
  from pg_attribute a
  join pg_type t on t.oid = a.atttypid
  left join pg_attrdef e on e.adrelid = a.attrelid and e.adnum = a.attnum
  left join pg_depend d on d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass
    and d.refobjid = a.attrelid and d.refobjsubid = a.attnum and d.deptype = 'i' and a.attidentity <> ''
  left join pg_sequence s on s.seqrelid = d.objid
  -- Columns that come from a parent alone are its business.
  where a.attrelid = $1::text::oid and a.attnum > 0 and not a.attisdropped and a.attislocal
)
select concat(
  'create ', case when c.relpersistence = 'u' then 'unlogged ' when c.relkind = 'f' then 'foreign ' end, 'table ', c.oid::regclass,
  case when c.relispartition then format(' partition of %s %s', parents.names, pg_get_expr(c.relpartbound, c.oid))
    else format(E' (\n%s\n)', (select string_agg(definition, E',\n' order by attnum) from columns)) end,
  case when parents.names is not null and not c.relispartition then format(' inherits (%s)', parents.names) end,
  case when c.relkind = 'p' then ' partition by ' || pg_get_partkeydef(c.oid) end,
  case when c.relkind = 'f' then format(' server %I', (select f.srvname from pg_foreign_table t
    join pg_foreign_server f on f.oid = t.ftserver where t.ftrelid = c.oid)) end,
  (select format(' options (%s)', string_agg(format('%I %L', option_name, option_value), ', '))
    from pg_foreign_table t cross join lateral pg_options_to_table(t.ftoptions) where t.ftrelid = c.oid having count(*) > 0),
  case when m.amname <> 'heap' then ' using ' || quote_ident(m.amname) end,
  (select format(' with (%s)', string_agg(format('%I = %L', option_name, option_value), ', '))
    from pg_options_to_table(c.reloptions) having count(*) > 0),
  (select ' tablespace ' || quote_ident(spcname) from pg_tablespace where oid = c.reltablespace),
  ';')
from pg_class c
left join pg_am m on m.oid = c.relam
left join lateral (
  select string_agg(i.inhparent::regclass::text, ', ' order by i.inhseqno) as names from pg_inherits i where i.inhrelid = c.oid
) parents on true
where c.oid = $1::text::oid and c.relkind in ('r', 'p', 'f')
