-- Writes the functions of event triggers anew that have lost their text (sql/platform/0121_event_trigger_calls.sql): an earlier version empties
-- those that it does not know, before it refuses a database of a later one.
do $$
declare
  found record;
begin
  for found in
    select f.original, p.oid as copy
    from _selvedge.selvedge_event_trigger_functions as f
    join pg_catalog.pg_proc as p on p.oid operator(pg_catalog.=) f.copy
    join pg_catalog.pg_proc as o on o.oid operator(pg_catalog.=) f.original
      and o.prorettype operator(pg_catalog.=) 'pg_catalog.event_trigger'::pg_catalog.regtype::pg_catalog.oid
    where p.prosrc operator(pg_catalog.<>) (
      'begin if not _selvedge.is_event_trigger_skipped() then perform _selvedge.run_event_trigger('::pg_catalog.text
      operator(pg_catalog.||) f.original::pg_catalog.text
      operator(pg_catalog.||) '::oid, tg_event, tg_tag) limit 1; end if; end'::pg_catalog.text
    )
  loop
    begin
      perform _selvedge.write_event_trigger_functions(found.original::pg_catalog.regprocedure);
    exception when others then
      raise warning 'the event triggers with the function % do nothing: %', found.original::pg_catalog.regprocedure, sqlerrm;
    end;
  end loop;
end
$$
