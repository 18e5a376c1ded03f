select s.nspname::text, e.extname::text, 'extension', '',
  format('The extension %I is installed in the schema public.', e.extname),
  case when e.extrelocatable then format('alter extension %I set schema extensions', e.extname) end
from pg_extension e
join pg_namespace s on s.oid = e.extnamespace
where s.nspname = 'public'
