create schema audit;
create table audit.log (id bigserial primary key, at timestamptz not null default now(), who uuid default auth.uid(),
  relation text not null, operation text not null, before jsonb, after jsonb);
create function audit.record() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  insert into audit.log (relation, operation, before, after)
  values (tg_table_schema || '.' || tg_table_name, tg_op,
    case when tg_op <> 'INSERT' then to_jsonb(old) end, case when tg_op <> 'DELETE' then to_jsonb(new) end);
  return coalesce(new, old);
end
$$;
create table public.prices (id int primary key, amount numeric not null);
create trigger record after insert or update or delete on public.prices for each row execute function audit.record();
revoke all on all tables in schema audit from anon, authenticated;
