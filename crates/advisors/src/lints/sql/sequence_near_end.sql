select q.schemaname::text, q.sequencename::text, 'sequence', '',
  format('The sequence %I.%I has used %s of its numbers up to %s.', q.schemaname, q.sequencename,
    round(100 * used.part) || ' %', q.max_value),
  case when q.data_type <> 'bigint'::regtype and owner.attrelid is not null
    then format('alter table %s alter column %I type bigint', owner.attrelid::regclass, owner.attname) end
from pg_sequences q
join project_schemas s on s.nspname = q.schemaname
cross join lateral (
  select (q.last_value::numeric - q.min_value) / nullif(q.max_value::numeric - q.min_value, 0) as part
) as used
left join lateral (
  select a.attrelid, a.attname
  from pg_depend d
  join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
  where d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
    and d.objid = format('%I.%I', q.schemaname, q.sequencename)::regclass
  limit 1
) as owner on true
where q.increment_by > 0 and not q.cycle and used.part > 0.75
