-- Where Citus stores the rows of tables. Tables without a distribution column (partmethod n) are reference tables on every node
-- (repmodel t), tables of a distributed schema, or local tables that Citus manages, because reference tables are related to them.
select
  logicalrelid::oid as oid,
  case
    when partmethod <> 'n' then 'sharded'
    when repmodel = 't' then 'reference'
    else 'single_node' end as distribution
from pg_catalog.pg_dist_partition;
