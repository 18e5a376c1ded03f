-- Schemas whose names begin with one of $1.
select n.nspname::text as name
from pg_catalog.pg_namespace n
where exists (select from unnest($1::text[]) prefix where n.nspname::text ^@ prefix);
