-- Before 0080_reserved_rights.sql `postgres` could make triggers on tables of a superuser. That file has removed those that run a function of another
-- role; the condition of a trigger may also call one, and runs in the session of whoever writes to the table.
do $$
declare
  found record;
begin
  for found in
    select t.tgname::text as name, t.tgrelid::pg_catalog.regclass as relation
    from pg_catalog.pg_trigger as t
    where not t.tgisinternal and t.tgparentid operator(pg_catalog.=) 0::pg_catalog.oid and t.tgqual is not null
      and _selvedge.is_table_of_the_platform(t.tgrelid)
      and exists (
        select from pg_catalog.pg_depend as d
        left join pg_catalog.pg_proc as p
          on d.refclassid operator(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
          and p.oid operator(pg_catalog.=) d.refobjid
        left join pg_catalog.pg_operator as o
          on d.refclassid operator(pg_catalog.=) 'pg_catalog.pg_operator'::pg_catalog.regclass::pg_catalog.oid
          and o.oid operator(pg_catalog.=) d.refobjid
        left join pg_catalog.pg_type as y
          on d.refclassid operator(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid
          and y.oid operator(pg_catalog.=) d.refobjid
        join pg_catalog.pg_roles as r
          on r.oid operator(pg_catalog.=) coalesce(p.proowner, o.oprowner, y.typowner) and not r.rolsuper
        where d.classid operator(pg_catalog.=) 'pg_catalog.pg_trigger'::pg_catalog.regclass::pg_catalog.oid
          and d.objid operator(pg_catalog.=) t.oid
      )
  loop
    raise warning 'the trigger % of % was removed: its condition called something of another role on a table of a superuser',
      found.name, found.relation;
    execute pg_catalog.format('drop trigger %I on %s'::text, found.name, found.relation);
  end loop;
end
$$;
