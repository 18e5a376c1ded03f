-- Settings `pgrst.*` that the pre-config function has set in this transaction. $1: the known names.
select known.name, current_setting('pgrst.' || known.name, true) as value
from unnest($1::text[]) known (name)
where current_setting('pgrst.' || known.name, true) is not null
