-- Where Citus keeps the rows of tables. Of those by no column (n) some are on every node (t), and some together on one, in
-- a group; what is in no group is a table of this database whose name alone is known to Citus.
select
  logicalrelid::oid as oid,
  case
    when partmethod <> 'n' then 'sharded'
    when repmodel = 't' then 'reference'
    when colocationid <> 0 then 'single_node'
    else 'local' end as distribution
from pg_catalog.pg_dist_partition;
