-- Whether new snapshots see all these transactions, and a fingerprint of the roles, whose attributes and memberships change without
-- any announcement. The ids come without the epoch, which is that of the newest id or the one before.
with now as materialized (
  select snapshot, pg_catalog.pg_snapshot_xmax(snapshot)::text::bigint as next
  from (select pg_catalog.pg_current_snapshot() as snapshot) as taken
),
-- The distance of an id behind the next one to complete, counted modulo 2^32.
aged as (
  select snapshot, next, (((next - id) % 4294967296) + 4294967296) % 4294967296 as age
  from now, unnest($1::bigint[]) as id
)
select coalesce(
  pg_catalog.bool_and(
    -- At or ahead of the next one: not complete.
    case
      when age = 0 or age >= 2147483648 then false
      else pg_catalog.pg_visible_in_snapshot((next - age)::text::xid8, snapshot)
    end
  ),
  true
) as are_visible,
  (
    select coalesce(
      sum(pg_catalog.hash_record_extended(row(r.oid, r.rolsuper, r.rolinherit, r.rolbypassrls), 0)), 0
    )::text
    from pg_catalog.pg_roles as r
  ) || ' ' || (
    select coalesce(sum(pg_catalog.hash_record_extended(m, 0)), 0)::text from pg_catalog.pg_auth_members as m
  ) as roles
from aged
