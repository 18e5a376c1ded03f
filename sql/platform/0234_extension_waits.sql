-- As in 0174_extension_versions.sql, but those that are waited for are looked at again each time: a session that has begun between the look at
-- the locks and the look at the sessions was taken for one of this database, and a long transaction in another database then ended in a refusal.
create or replace function _selvedge.wait_for_callable_names() returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  refusal constant text := 'other transactions are open, which may have added something that the script of an extension would call';
  deadline constant timestamptz := clock_timestamp() + '10 seconds'::interval;
  others text[];
begin
  loop
    begin
      others := null;
      -- No new one is added.
      lock table pg_catalog.pg_namespace, pg_catalog.pg_proc, pg_catalog.pg_operator, pg_catalog.pg_class, pg_catalog.pg_type
        in share row exclusive mode;
      loop
        -- The list of sessions is that of the transaction's first look at it, and a number that a superuser's process had may be another's by now.
        perform pg_stat_clear_snapshot();
        -- PostgreSQL lets go of such a lock before a transaction ends, so others may have added one that is not committed. Those that begin
        -- later cannot.
        select array_agg(l.virtualtransaction) into others
        from pg_locks as l
        left join pg_stat_get_activity(null) as a on a.pid = l.pid
        left join pg_roles as r on r.oid = a.usesysid
        where l.locktype = 'transactionid'::text and l.granted and l.mode = 'ExclusiveLock'::text and l.pid is distinct from pg_backend_pid()
          and (others is null or l.virtualtransaction = any (others))
          -- Prepared transactions have no process.
          and (l.pid is null or (
            not coalesce(a.backend_type = 'client backend'::text and r.rolsuper, false)
            and coalesce(a.datid = (select d.oid from pg_database as d where d.datname = current_database()), true)
          ));
        if others is null then
          return;
        end if;
        if clock_timestamp() > deadline then
          raise lock_not_available using message = refusal, hint = 'Repeat it when they have ended.';
        end if;
        if exists (
          select from pg_locks as l
          where not l.granted and l.virtualtransaction = any (others) and pg_backend_pid() = any (pg_blocking_pids(l.pid))
        ) then
          raise deadlock_detected using message = refusal;
        end if;
        perform pg_sleep(0.02);
      end loop;
    exception when deadlock_detected then
      -- The locks of this block are given back.
      if clock_timestamp() > deadline then
        raise;
      end if;
    end;
    perform pg_sleep(0.02);
  end loop;
end
$$;
