-- Where Citus stores the rows of tables. Tables without a distribution column (partmethod n) are reference tables on every node
-- (repmodel t), tables of a distributed schema (colocationid above 0), or local tables that Citus only manages.
select
  logicalrelid::oid as oid,
  case
    when partmethod <> 'n' then 'sharded'
    when repmodel = 't' then 'reference'
    when colocationid <> 0 then 'single_node'
    else 'local' end as distribution
from pg_catalog.pg_dist_partition;
