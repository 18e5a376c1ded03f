select e.name, n.nspname as schema, e.default_version, x.extversion as installed_version, e.comment
from pg_available_extensions() e
left join pg_extension x on x.extname = e.name
left join pg_namespace n on n.oid = x.extnamespace
