select t.nspname::text, t.relname::text, 'table', a.attname::text,
  format('The column %I of %s has the type %s.', a.attname, t.quoted, format_type(a.atttypid, a.atttypmod)),
  format('alter table %s alter column %I type text', t.quoted, a.attname)
from project_relations t
join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
where t.relkind in ('r', 'p', 'm') and a.atttypid in (
  'regcollation'::regtype, 'regconfig'::regtype, 'regdictionary'::regtype, 'regnamespace'::regtype, 'regoper'::regtype,
  'regoperator'::regtype, 'regproc'::regtype, 'regprocedure'::regtype)
