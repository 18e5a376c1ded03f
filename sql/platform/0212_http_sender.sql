-- The function that hands requests of the extension http to the server beside PostgreSQL belonged to a superuser. dblink takes the first letters
-- of a connection's text for the name of a foreign server, and asks a superuser for no password: whoever made such a server led the superuser's
-- session to another PostgreSQL, with any statement. Now the function belongs to a role that can do nothing else, and passes JSON on and nothing
-- else. dblink lets such a role use a connection only if the server at its other end has asked for a password, so the server beside PostgreSQL does.

do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'selvedge_http') then
    begin
      create role selvedge_http;
    exception when duplicate_object or unique_violation then
      null; -- Another database of the server has made it at this moment.
    end;
  end if;
  -- Not always: of two databases of a server that are upgraded at once, the second one would fail.
  if exists (
    select from pg_catalog.pg_authid as a
    where a.rolname = 'selvedge_http' and (
      a.rolsuper or a.rolcanlogin or not a.rolinherit or a.rolcreatedb or a.rolcreaterole or a.rolreplication or a.rolbypassrls
      or a.rolpassword is not null
    )
  ) then
    alter role selvedge_http nosuperuser nologin inherit nocreatedb nocreaterole noreplication nobypassrls password null;
  end if;
  -- The folder of the socket is a setting that is not everybody's to read. `postgres` may read all of them, too.
  if not exists (
    select from pg_catalog.pg_auth_members as m
    where m.roleid = 'pg_read_all_settings'::pg_catalog.regrole and m.member = 'selvedge_http'::pg_catalog.regrole
  ) then
    grant pg_read_all_settings to selvedge_http;
  end if;
end
$$;

do $$
declare
  found record;
  checked text;
  checked_type oid;
begin
  for found in
    select s.oid as sender, d.oid as dblink, s.pronamespace, pg_catalog.quote_ident(n.nspname) as home, x.refobjid as extension
    from pg_catalog.pg_proc as s
    join pg_catalog.pg_roles as r on r.oid = s.proowner and r.rolsuper
    join pg_catalog.pg_namespace as n on n.oid = s.pronamespace
    join pg_catalog.pg_proc as d on d.pronamespace = s.pronamespace and d.proname = '_http_dblink' and d.prosrc = 'dblink_record'
      and d.proargtypes = '25 25'::pg_catalog.oidvector
    join pg_catalog.pg_roles as o on o.oid = d.proowner and o.rolsuper
    left join pg_catalog.pg_depend as x on x.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and x.objid = s.oid and x.deptype = 'e'
      and x.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
    where s.proname = '_http_send' and s.prosecdef and s.proargtypes = '25'::pg_catalog.oidvector
  loop
    checked := '_http_connection';
    if exists (select from pg_catalog.pg_type as t where t.typnamespace = found.pronamespace and t.typname = checked) then
      -- The project has a type of this name there.
      checked := checked || '_' || pg_catalog.replace(pg_catalog.gen_random_uuid()::text, '-', '');
    end if;
    checked := found.home || '.' || checked;
    execute 'create domain ' || checked || ' as text check (_selvedge.check_connection(value))';
    checked_type := checked::pg_catalog.regtype;
    if found.extension is not null then
      execute 'alter extension http add domain ' || checked;
    end if;
    update pg_catalog.pg_proc as p set proargtypes = (checked_type || ' 25')::pg_catalog.oidvector where p.oid = found.dblink;
    insert into pg_catalog.pg_depend (classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype)
    values ('pg_catalog.pg_proc'::pg_catalog.regclass, found.dblink, 0, 'pg_catalog.pg_type'::pg_catalog.regclass, checked_type, 0, 'n');
    execute 'grant execute on function ' || found.dblink::pg_catalog.regprocedure || ' to selvedge_http';
    -- Dumps would repeat the grant, as it is not the extension's own.
    update pg_catalog.pg_init_privs as i set initprivs = p.proacl
    from pg_catalog.pg_proc as p
    where i.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass and i.objoid = p.oid and p.oid = found.dblink;
    execute pg_catalog.format($function$
      create or replace function %1$s._http_send(question text) returns text
        language sql volatile security definer
        set search_path = pg_catalog, pg_temp
      begin atomic
        select a.answer
        from %1$s._http_dblink(
          pg_catalog.concat(
            'host=''', pg_catalog.replace(
              pg_catalog.replace(
                pg_catalog.concat(
                  pg_catalog.split_part(pg_catalog.current_setting('unix_socket_directories'::text), ','::text, 1), '/http'::text
                ), '\'::text, '\\'::text
              ), ''''::text, '\'''::text
            ),
            ''' port=1 dbname=http user=http password=http sslmode=disable gssencmode=disable connect_timeout=5'
          )::%2$s,
          _http_send.question::pg_catalog.jsonb::pg_catalog.text
        ) as a (answer text);
      end
    $function$, found.home, checked);
    execute 'alter function ' || found.sender::pg_catalog.regprocedure || ' owner to selvedge_http';
  end loop;
end
$$;
