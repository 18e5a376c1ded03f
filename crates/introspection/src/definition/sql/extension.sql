select format('create extension %I with schema %I version %L;', x.extname, n.nspname, x.extversion)
from pg_extension x
join pg_namespace n on n.oid = x.extnamespace
where x.oid = $1::text::oid
