grant editor to authenticator;
grant usage on schema public, extensions to editor;
create table public.articles (id int primary key, body text);
alter table public.articles enable row level security;
create policy "editors write" on public.articles to editor using (true) with check (true);
grant all on public.articles to editor;
