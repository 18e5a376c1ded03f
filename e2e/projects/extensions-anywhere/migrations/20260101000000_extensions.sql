create extension if not exists "uuid-ossp" with schema extensions;
create extension if not exists moddatetime;
alter extension moddatetime set schema extensions;
comment on extension moddatetime is 'sets a column to the time of the change';
do $$
begin
  if not exists (select from pg_extension where extname = 'pg_trgm') then
    create extension pg_trgm with schema extensions;
  end if;
end
$$;
drop extension if exists pg_stat_monitor;
create table public.articles (
  id uuid primary key default extensions.uuid_generate_v4(),
  title text not null,
  updated_at timestamptz not null default '2000-01-01'
);
create index articles_title on public.articles using gin (title extensions.gin_trgm_ops);
create trigger touch before update on public.articles
  for each row execute procedure extensions.moddatetime(updated_at);
grant execute on function extensions.uuid_generate_v4() to anon;
