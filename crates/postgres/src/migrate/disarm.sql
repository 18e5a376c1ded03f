-- Run before anything else in a superuser's session, because what it takes away would run in that session. It changes catalogs by UPDATE
-- only, as any other statement fires event triggers, and each operator has exactly the types of its operands.

-- Functions, operators and types that somebody has put into pg_catalog, where they come before everything that a pinned search_path
-- protects. Nobody's path has pg_toast; 0083_mend_extensions.sql drops them.
update pg_catalog.pg_proc as p set pronamespace = 'pg_toast'::pg_catalog.regnamespace
from pg_catalog.pg_authid as o
where o.oid = p.proowner and not o.rolsuper and p.pronamespace = 11::pg_catalog.oid;
update pg_catalog.pg_operator as p set oprnamespace = 'pg_toast'::pg_catalog.regnamespace
from pg_catalog.pg_authid as o
where o.oid = p.oprowner and not o.rolsuper and p.oprnamespace = 11::pg_catalog.oid;
update pg_catalog.pg_type as p set typnamespace = 'pg_toast'::pg_catalog.regnamespace
from pg_catalog.pg_authid as o
where o.oid = p.typowner and not o.rolsuper and p.typnamespace = 11::pg_catalog.oid;

-- Event triggers of projects whose functions have neither the text of 0121_event_trigger_calls.sql, which writes them anew, nor that of
-- 0082_event_triggers_of_projects.sql, which also does nothing but call the function of the superuser.
update pg_catalog.pg_proc as p set prosrc = 'begin null; end'::pg_catalog.text, proconfig = null
from pg_catalog.pg_namespace as n
where n.oid = p.pronamespace and n.nspname = '_selvedge'::pg_catalog.name
  and p.prorettype = 'pg_catalog.event_trigger'::pg_catalog.regtype::pg_catalog.oid
  and p.proname ~ '^event_trigger_[0-9]+$'::pg_catalog.text
  and p.prosrc <> (
    'begin if not _selvedge.is_event_trigger_skipped() then perform _selvedge.run_event_trigger('::pg_catalog.text
    || pg_catalog.substr(p.proname::pg_catalog.text, 15::pg_catalog.int4)
    || '::oid, tg_event, tg_tag) limit 1; end if; end'::pg_catalog.text
  )
  and p.prosrc <> (
    'begin if not _selvedge.is_event_trigger_skipped() then perform _selvedge.run_event_trigger('::pg_catalog.text
    || pg_catalog.substr(p.proname::pg_catalog.text, 15::pg_catalog.int4)
    || '::oid, tg_event, tg_tag); end if; end'::pg_catalog.text
  );
