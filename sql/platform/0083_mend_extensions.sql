-- What earlier versions' scripts have made, in the form of today's scripts (crates/postgres/extensions), and what could be made by
-- their help.

-- Wrappers without a validator, or with somebody else's, lose both functions, so that nothing runs through them.
do $$
declare
  found record;
begin
  for found in
    select w.fdwname as name
    from pg_catalog.pg_foreign_data_wrapper as w
    join pg_catalog.pg_roles as o on o.oid = w.fdwowner and not o.rolsuper
    where (w.fdwhandler <> 0 or w.fdwvalidator <> 0)
      and not coalesce(_selvedge.is_pair_of_a_wrapper(w.fdwhandler, w.fdwvalidator), false)
  loop
    raise warning 'the foreign-data wrapper % lost its functions: they were not handler and validator of one extension', found.name;
    execute pg_catalog.format('alter foreign data wrapper %I no handler no validator', found.name);
  end loop;
end
$$;

-- What did not belong to a superuser in pg_catalog, and was moved from there to pg_toast before this file ran (`disarm.sql` of the
-- migrations).
do $$
declare
  found record;
begin
  for found in
    select 'function'::text as kind, p.oid::pg_catalog.regprocedure::text as name, 'pg_catalog.pg_proc'::pg_catalog.regclass as class, p.oid
    from pg_catalog.pg_proc as p where p.pronamespace = 'pg_toast'::pg_catalog.regnamespace
    union all
    select 'operator', p.oid::pg_catalog.regoperator::text, 'pg_catalog.pg_operator'::pg_catalog.regclass, p.oid
    from pg_catalog.pg_operator as p where p.oprnamespace = 'pg_toast'::pg_catalog.regnamespace
    union all
    select 'type', p.oid::pg_catalog.regtype::text, 'pg_catalog.pg_type'::pg_catalog.regclass, p.oid
    from pg_catalog.pg_type as p
    where p.typnamespace = 'pg_toast'::pg_catalog.regnamespace and p.typrelid = 0 and p.typelem = 0
  loop
    raise warning 'the % % was removed from pg_catalog: it did not belong to a superuser', found.kind, found.name;
    -- As a member of an extension it could not be dropped alone.
    delete from pg_catalog.pg_depend as d
    where d.classid = found.class and d.objid = found.oid and d.deptype = 'e';
    execute pg_catalog.format('drop %s if exists %s cascade', found.kind, found.name);
  end loop;
end
$$;

-- The vault: only a superuser sets the path of the key's file.
do $$
begin
  if pg_catalog.to_regclass('vault._key_file') is not null and not exists (
    select from pg_catalog.pg_trigger as t
    where t.tgrelid = pg_catalog.to_regclass('vault._key_file') and t.tgname = 'selvedge_refuse_change'
  ) then
    create trigger selvedge_refuse_change before insert or update or delete on vault._key_file
      for each row execute function _selvedge.refuse_change();
    alter table vault._key_file enable always trigger selvedge_refuse_change;
  end if;
end
$$;

-- An argument of exactly the function's type, so that no other function of the schema fits better.
do $$
begin
  if not exists (
    select from pg_catalog.pg_proc as p join pg_catalog.pg_roles as o on o.oid = p.proowner and o.rolsuper
    where p.oid = pg_catalog.to_regprocedure('vault._derive_keys(bigint, bytea)')
  ) then
    return;
  end if;
  update pg_catalog.pg_proc as p set prosrc = pg_catalog.replace(p.prosrc, 'key_id := 0,', 'key_id := 0::bigint,')
  from pg_catalog.pg_roles as o
  where o.oid = p.proowner and o.rolsuper and p.pronamespace = pg_catalog.to_regnamespace('vault')
    and p.proname in ('create_secret', 'update_secret');
  if exists (
    select from pg_catalog.pg_class as c join pg_catalog.pg_roles as o on o.oid = c.relowner and o.rolsuper
    where c.oid = pg_catalog.to_regclass('vault.decrypted_secrets')
  ) then
    create or replace view vault.decrypted_secrets as
    select
      s.id,
      s.name,
      s.description,
      s.secret,
      convert_from(
        vault._crypto_aead_det_decrypt(
          message := decode(s.secret, 'base64'), additional := convert_to(s.id::text, 'utf8'), key_id := 0::bigint,
          context := 'pgsodium'::bytea, nonce := s.nonce
        ),
        'utf8'
      ) as decrypted_secret,
      s.key_id,
      s.nonce,
      s.created_at,
      s.updated_at
    from vault.secrets as s;
  end if;
end
$$;

-- pg_cron: jobs belong to whoever writes them, also while session_replication_role switches ordinary triggers off, and do not run as a
-- role of the platform.
do $$
begin
  if exists (
    select from pg_catalog.pg_trigger as t
    join pg_catalog.pg_class as c on c.oid = t.tgrelid
    join pg_catalog.pg_roles as o on o.oid = c.relowner and o.rolsuper
    where t.tgname = 'cron_job_check_owner' and c.oid = pg_catalog.to_regclass('cron.job')
  ) then
    create or replace function cron._check_owner() returns trigger
      language plpgsql
      set search_path = pg_catalog, pg_temp
    as $function$
    declare
      is_superuser boolean := (select r.rolsuper from pg_roles as r where r.rolname = current_user);
    begin
      if tg_op <> 'INSERT' and old.username <> current_user::text and not is_superuser then
        raise insufficient_privilege using message = 'permission denied for table job';
      end if;
      if tg_op = 'DELETE' then
        return old;
      end if;
      if new.username <> current_user::text and not is_superuser then
        raise insufficient_privilege using message = 'must be superuser to create a job for another role';
      end if;
      if _selvedge.is_reserved_role(new.username) and not is_superuser then
        raise insufficient_privilege using
          message = 'jobs do not run as "' || new.username || '"',
          detail = 'The role belongs to the platform.';
      end if;
      return new;
    end
    $function$;
    alter table cron.job enable always trigger cron_job_check_owner;
  end if;
end
$$;

-- http: the function with the rights of a superuser is bound to the one that it calls, and does nothing else.
do $$
declare
  home text := (
    select n.nspname from pg_catalog.pg_proc as p
    join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
    join pg_catalog.pg_roles as o on o.oid = p.proowner and o.rolsuper
    join pg_catalog.pg_depend as d on d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid and d.deptype = 'e'
    join pg_catalog.pg_extension as e on e.oid = d.refobjid and e.extname = 'http'
    where p.proname = '_http_ask' and p.prosecdef
  );
  dblink text;
begin
  if home is null then
    return;
  end if;
  -- By its number, as the schema may hold another function that fits better.
  dblink := (
    select p.oid::pg_catalog.regprocedure::text from pg_catalog.pg_proc as p
    join pg_catalog.pg_roles as o on o.oid = p.proowner and o.rolsuper
    where p.proname = '_http_dblink' and p.pronamespace = home::pg_catalog.regnamespace and p.proargtypes = '25 25'::pg_catalog.oidvector
  );
  if dblink is null then
    return;
  end if;
  execute pg_catalog.format($function$
    create function %1$I._http_send(question text) returns text
      language sql volatile security definer
      set search_path = pg_catalog, pg_temp
    begin atomic
      select a.answer
      from %1$I._http_dblink(
        pg_catalog.concat(
          'host=''', pg_catalog.replace(
            pg_catalog.replace(
              pg_catalog.concat(
                pg_catalog.split_part(pg_catalog.current_setting('unix_socket_directories'::text), ','::text, 1), '/http'::text
              ), '\'::text, '\\'::text
            ), ''''::text, '\'''::text
          ),
          ''' port=1 dbname=http user=http sslmode=disable gssencmode=disable connect_timeout=5'
        ),
        _http_send.question
      ) as a (answer text);
    end;
    alter extension http add function %1$I._http_send(text);
    create or replace function %1$I._http_ask(question jsonb) returns jsonb
      language plpgsql volatile
      set search_path = pg_catalog, pg_temp
    as $ask$
    begin
      return %1$I._http_send(question::text)::jsonb;
    exception
      when sqlclient_unable_to_establish_sqlconnection then
        raise exception using
          errcode = 'connection_failure',
          message = 'HTTP requests of SQL are sent by the server beside this database, which is not there',
          hint = 'They work in the PostgreSQL that `selvedge start` runs, and while it runs.';
    end
    $ask$
  $function$, home);
end
$$;

-- Test helpers that were installed by their script in another database than the embedded one belonged to a superuser.
do $$
declare
  found record;
begin
  for found in
    select p.oid::pg_catalog.regprocedure as routine
    from pg_catalog.pg_proc as p
    join pg_catalog.pg_namespace as n on n.oid = p.pronamespace and n.nspname = 'tests'
    join pg_catalog.pg_roles as o on o.oid = p.proowner and o.rolsuper
    where p.prosecdef and p.proname in ('create_supabase_user', 'get_supabase_user', 'get_supabase_uid')
  loop
    execute pg_catalog.format('alter function %s owner to postgres', found.routine);
  end loop;
end
$$;

select _selvedge.settle_extensions(array(select e.oid from pg_catalog.pg_extension as e));
