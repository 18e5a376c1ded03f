-- Whoever gives a key of a bucket with versions an object, and whoever marks keys that have nothing, took an advisory lock (0201). Every role that
-- logs in may take such a lock and keep it, so a login that only reads stopped all uploads into a bucket. These tables have no columns and no rows. They
-- are there to be locked, which takes a right that only Storage has. A bucket has one of them by the hash of its name: a table for each bucket would
-- come and go with it.
do $$
declare
  locked text;
begin
  for slot in 0..15 loop
    locked := '_selvedge.selvedge_history_lock_'::text || slot::text;
    execute 'create table ' || locked || ' ()';
    execute 'revoke all on ' || locked || ' from public, anon, authenticated, service_role, postgres';
    execute 'grant update on ' || locked || ' to supabase_storage_admin, service_role';
  end loop;
end
$$;

-- Waits until nobody marks keys of the bucket, or, with `marks`, until nobody else does either of the two. Until the transaction ends.
create function _selvedge.lock_object_history(bucket text, marks boolean) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  execute 'lock table _selvedge.selvedge_history_lock_' || (hashtext(bucket) & 15)::text
    || case when marks then ' in share row exclusive mode'::text else ' in row exclusive mode'::text end;
end
$$;
revoke all on function _selvedge.lock_object_history(text, boolean) from public;
grant execute on function _selvedge.lock_object_history(text, boolean) to supabase_storage_admin, service_role;

-- By UPDATE, as in 0113_worker_sessions.sql: whoever may replace the functions writes their default values, and reading these in a statement can run
-- code.
update pg_catalog.pg_proc as p
set prosrc = pg_catalog.replace(
  pg_catalog.replace(
    p.prosrc,
    'perform pg_catalog.pg_advisory_xact_lock_shared(storage.history_lock_class(), pg_catalog.hashtext(new.bucket_id));',
    'perform _selvedge.lock_object_history(new.bucket_id, false);'
  ),
  'perform pg_catalog.pg_advisory_xact_lock(storage.history_lock_class(), pg_catalog.hashtext(p_bucket_id));',
  'perform _selvedge.lock_object_history(p_bucket_id, true);'
)
where p.pronamespace operator(pg_catalog.=) 'storage'::pg_catalog.regnamespace
  and p.proowner operator(pg_catalog.=) 'supabase_storage_admin'::pg_catalog.regrole
  and p.proname operator(pg_catalog.=) any (array['keep_object_history', 'mark_missing_objects']::pg_catalog.name[]);
