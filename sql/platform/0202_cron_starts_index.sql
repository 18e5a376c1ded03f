-- The node that takes over the jobs of pg_cron asks which runs have begun lately. Without an index PostgreSQL reads all runs that were ever recorded,
-- and nothing else happens on the node's connection meanwhile. Where the extension is created from now on, its script makes the index.
do $$
begin
  if exists (
    select from pg_catalog.pg_trigger as t
    join pg_catalog.pg_class as c on c.oid = t.tgrelid
    join pg_catalog.pg_roles as o on o.oid = c.relowner and o.rolsuper
    where t.tgname = 'cron_job_check_owner' and c.oid = pg_catalog.to_regclass('cron.job')
  ) and exists (
    select from pg_catalog.pg_class as c
    join pg_catalog.pg_roles as o on o.oid = c.relowner and o.rolsuper
    where c.oid = pg_catalog.to_regclass('cron.job_run_details') and c.relkind = 'r'
  ) then
    create index if not exists job_run_details_started_idx on cron.job_run_details (jobid, start_time);
  end if;
end
$$;
