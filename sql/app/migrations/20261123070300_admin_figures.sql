-- Figures of the server for the settings page of the admin area.

create function public.admin_figures() returns jsonb
  language plpgsql
  stable
  -- Security definer: administrators have no rights on the storage and migration tables.
  security definer
  set search_path = ''
as $$
declare
  migration text;
begin
  perform private.require_admin();
  -- The table belongs to the server, which creates it with the first migration.
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    execute 'select max(version) from supabase_migrations.schema_migrations' into migration;
  end if;
  return jsonb_build_object(
    'postgres', current_setting('server_version'),
    'migration', migration,
    'database_bytes', pg_database_size(current_database()),
    'tables', (
      select jsonb_agg(
        jsonb_build_object('name', t.relname, 'rows', greatest(s.n_live_tup, 0), 'bytes', pg_total_relation_size(t.oid))
        order by pg_total_relation_size(t.oid) desc, t.relname)
      from pg_class as t join pg_stat_user_tables as s on s.relid = t.oid
      where t.relnamespace = 'public'::regnamespace and t.relkind = 'r'),
    'buckets', (
      select jsonb_agg(
        jsonb_build_object('name', b.id, 'files', coalesce(o.files, 0), 'bytes', coalesce(o.bytes, 0))
        order by o.bytes desc nulls last, b.id)
      from storage.buckets as b
      left join (
        select bucket_id, count(*) as files, sum((metadata ->> 'size')::bigint) as bytes
        from storage.objects group by bucket_id) as o on o.bucket_id = b.id));
end
$$;
comment on function public.admin_figures() is
  'Administrators only: versions, size of the database and of its tables with PostgreSQL''s estimate of their rows, and files and bytes of each bucket.';

revoke execute on function public.admin_figures() from public, anon;
grant execute on function public.admin_figures() to authenticated;
