select n.nspname as schema, t.typname as name, array_agg(e.enumlabel::text order by e.enumsortorder) as values
from pg_enum e
join pg_type t on t.oid = e.enumtypid
join pg_namespace n on n.oid = t.typnamespace
where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
group by n.nspname, t.typname
order by n.nspname, t.typname
