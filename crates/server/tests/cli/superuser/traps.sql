-- A migration that puts code of the project wherever a session of the superuser might run it. Each place calls `public.trap`, which
-- counts when the session's role, or the role that logged in, is a superuser. A sequence counts, because it keeps its value when
-- the transaction is rolled back.
create sequence public.trapped;
create sequence public.analyzed;
grant all on sequence public.analyzed to public;
grant all on sequence public.trapped to public;
create function public.trap() returns boolean language plpgsql immutable as $$
begin
  if exists (
    select from pg_catalog.pg_roles
    where rolsuper and (rolname operator(pg_catalog.=) current_user or rolname operator(pg_catalog.=) session_user)
  ) then
    -- Only autovacuum runs without a statement. It computes this index as the table's owner, in an operation in which PostgreSQL lets
    -- nobody become another role. So it is a trap only where that is possible.
    if pg_catalog.current_query() is null then
      begin
        perform pg_catalog.set_config('role', session_user, true);
      exception when insufficient_privilege then
        perform pg_catalog.nextval('public.analyzed');
        return true;
      end;
    end if;
    perform pg_catalog.nextval('public.trapped');
    raise warning 'trapped: % %', current_user, pg_catalog.current_query();
  end if;
  return true;
end $$;
grant execute on function public.trap() to public;
create function public.trap_row() returns trigger language plpgsql as $$
begin
  perform public.trap();
  return new;
end $$;
grant execute on function public.trap_row() to public;

-- Overloads and operators that fit better than PostgreSQL's own, in every schema where postgres may create something.
create schema supabase_admin;
do $$
declare
  target text;
begin
  foreach target in array array['public', 'extensions', 'supabase_admin'] loop
    execute format('grant usage on schema %I to public', target);
    execute format($f$
      create function %1$I.hashtextextended(text, integer) returns bigint language plpgsql as
        'begin perform public.trap(); return pg_catalog.hashtextextended($1, $2::bigint); end';
      create function %1$I.append(text, integer) returns text language plpgsql as
        'begin perform public.trap(); return pg_catalog.concat($1, $2); end';
      create function %1$I.earlier(pg_lsn, integer) returns pg_lsn language plpgsql as
        'begin perform public.trap(); return $1 operator(pg_catalog.-) $2::numeric; end';
      create function %1$I.is_same(oid, regnamespace) returns boolean language plpgsql as
        'begin perform public.trap(); return $1 operator(pg_catalog.=) $2::oid; end';
      create operator %1$I.|| (leftarg = text, rightarg = integer, function = %1$I.append);
      create operator %1$I.- (leftarg = pg_lsn, rightarg = integer, function = %1$I.earlier);
      create operator %1$I.= (leftarg = oid, rightarg = regnamespace, function = %1$I.is_same)
    $f$, target);
  end loop;
end $$;

-- What the platform calls or reads.
create or replace function realtime.maintain_messages_partitions(days_ahead integer default 3) returns void language plpgsql as $$
begin
  perform public.trap();
end $$;
create index trap_users on auth.users (id) where public.trap();
create index trap_versions on auth.schema_migrations (version) where public.trap();
create index trap_objects on storage.objects (id) where public.trap();
create index trap_buckets on storage.buckets (id) where public.trap();
create index trap_parts on storage.s3_multipart_uploads_parts (id) where public.trap();
set role supabase_auth_admin;
create trigger trap after insert or update on auth.users for each row execute function public.trap_row();
alter table auth.users enable always trigger trap;
reset role;
set role supabase_storage_admin;
create trigger trap after insert or update on storage.buckets for each row execute function public.trap_row();
alter table storage.buckets enable always trigger trap;
reset role;

-- A function of PostgreSQL that runs a text as SQL. pg_depend does not say that the constraint uses it.
set role supabase_auth_admin;
create sequence auth.trapped;
grant usage on sequence auth.trapped to public;
alter table auth.users add constraint trap check (pg_catalog.ts_rewrite('a'::tsquery, '
  select ''a''::tsquery, ''b''::tsquery from pg_catalog.pg_roles
  where rolsuper and rolname in (current_user, session_user) and pg_catalog.nextval(''auth.trapped'') > 0'
) is not null);
reset role;

-- Extensions that are not there.
create schema cron;
create table cron.job (jobid bigint, database text);
insert into cron.job values (1, 'x');
create trigger trap before update on cron.job for each row execute function public.trap_row();
create schema pgmq;
create table pgmq.meta (queue_name text, is_unlogged boolean);
insert into pgmq.meta values ('q', false);
create function pgmq.create(text) returns void language plpgsql as $$ begin perform public.trap(); end $$;

-- Whatever is defined in the database.
create function public.trap_event() returns event_trigger language plpgsql as $$
begin
  perform public.trap();
end $$;
create event trigger trap_start on ddl_command_start execute function public.trap_event();
create event trigger trap_end on ddl_command_end execute function public.trap_event();
create event trigger trap_drop on sql_drop execute function public.trap_event();

-- The history of migrations, which commands read and write.
create index trap_history on supabase_migrations.schema_migrations (version) where public.trap();
create trigger trap before insert on supabase_migrations.schema_migrations for each row execute function public.trap_row();
alter table supabase_migrations.schema_migrations enable always trigger trap;
