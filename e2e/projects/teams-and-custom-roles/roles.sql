do $$
begin
  if not exists (select from pg_roles where rolname = 'team_auditor') then
    create role team_auditor nologin noinherit bypassrls;
  end if;
end
$$;
grant team_auditor to authenticator;
grant usage on schema public, extensions to team_auditor;
