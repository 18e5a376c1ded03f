-- Settings `pgrst.*` of the connection's role; one for this database (setdatabase) overrides one for all (0).
-- $1: the known names.
with of_role as (
  select s.setdatabase as database, split_part(entry, '=', 1) as name, substr(entry, strpos(entry, '=') + 1) as value
  from pg_catalog.pg_db_role_setting s
  cross join lateral unnest(s.setconfig) entry
  where s.setrole = (select oid from pg_catalog.pg_roles where rolname = current_user)
    and s.setdatabase in (0, (select oid from pg_catalog.pg_database where datname = current_database()))
    -- One that was made in a database of another encoding need not be UTF-8.
    and encode(textsend(entry), 'hex') ~ '^([0-7].|((c[2-9a-f]|d.)|(e0[ab]|ed[89]|e[1-9a-cef][89ab]).|(f0[9ab]|f[1-3][89ab]|f48).[89ab].)[89ab].)*$'
)
select distinct on (known.name) known.name, of_role.value
from unnest($1::text[]) known (name)
join of_role on lower(of_role.name) = 'pgrst.' || known.name
order by known.name, of_role.database desc
