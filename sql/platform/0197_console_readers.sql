-- Viewers of the console log in as roles of their own. PostgreSQL lets whoever logs in as a role end every session of it, so that a viewer
-- could end the statements of all others. selvedge_console_reader keeps the rights, as which projects name it, and these have them as its
-- members. The console reads as number 0 for viewers, and runs their texts as the others, each of which has one session at a time.

do $$
declare
  reader text;
  sessions int;
begin
  for number in 0..16 loop
    reader := 'selvedge_console_reader_' || number;
    sessions := case number when 0 then -1 else 1 end;
    if not exists (select from pg_catalog.pg_roles where rolname = reader) then
      begin
        execute pg_catalog.format('create role %I login', reader);
      exception when duplicate_object or unique_violation then
        null; -- Another database of the server has made it at this moment.
      end;
    end if;
    -- Not always: of two databases of a server that are upgraded at once, the second one would fail.
    if exists (
      select from pg_catalog.pg_roles as r
      where r.rolname = reader and (
        r.rolsuper or not r.rolcanlogin or not r.rolinherit or r.rolcreatedb or r.rolcreaterole or r.rolreplication or not r.rolbypassrls
        or r.rolconnlimit <> sessions or r.rolvaliduntil <> 'infinity'
      )
    ) then
      execute pg_catalog.format(
        'alter role %I nosuperuser login inherit nocreatedb nocreaterole noreplication bypassrls
           connection limit %s valid until ''infinity''',
        reader, sessions);
    end if;
    if not exists (
      select from pg_catalog.pg_auth_members as m
      where m.roleid = 'selvedge_console_reader'::regrole and m.member = reader::regrole
    ) then
      execute pg_catalog.format('grant selvedge_console_reader to %I', reader);
    end if;
  end loop;
end
$$;

-- The password of the console's logins, which is one for all; none where its verifier holds the role's name (md5). By UPDATE, so that it is
-- in no statement that is logged or counted.
update pg_catalog.pg_authid as r
set rolpassword = case when known.rolpassword ^@ 'SCRAM-SHA-256$' then known.rolpassword end
from pg_catalog.pg_authid as known
where known.rolname = 'selvedge_console_reader' and r.rolname ~ '^selvedge_console_reader_([0-9]|1[0-6])$'
  and r.rolpassword is distinct from case when known.rolpassword ^@ 'SCRAM-SHA-256$' then known.rolpassword end;
