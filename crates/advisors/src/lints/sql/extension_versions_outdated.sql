select s.nspname::text, e.extname::text, 'extension', '',
  format('The extension %I has the version %s, and %s is available.', e.extname, e.extversion, a.default_version),
  format('alter extension %I update', e.extname)
from pg_extension e
join pg_namespace s on s.oid = e.extnamespace
join pg_available_extensions a on a.name = e.extname
where a.default_version <> e.extversion
