-- The tables of Citus, and whether this server stores all their rows and publishes the changes. Citus publishes changes of
-- reference tables (repmodel t) from the coordinator alone, whose group is 0. Tables with a distribution column (partmethod other
-- than n) never count, because Citus refuses the statement that checks the visibility of their rows.
with here as (
  select coalesce((select groupid from pg_catalog.pg_dist_local_group), 0) as groupid
)
select
  p.logicalrelid::oid,
  p.partmethod = 'n'
  and (p.repmodel <> 't' or here.groupid = 0)
  and coalesce(
    (
      select bool_and(
        exists (
          select from pg_catalog.pg_dist_placement as o
          where o.shardid = s.shardid and o.groupid = here.groupid
        )
      )
      from pg_catalog.pg_dist_shard as s
      where s.logicalrelid = p.logicalrelid
    ),
    false
  )
from pg_catalog.pg_dist_partition as p, here
