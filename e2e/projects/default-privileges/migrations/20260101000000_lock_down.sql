alter default privileges in schema public revoke all on tables from anon, authenticated;
alter default privileges in schema public revoke all on sequences from anon, authenticated;
alter default privileges in schema public revoke all on functions from anon, authenticated;
alter default privileges revoke execute on functions from public;
create table public.secrets (id serial primary key, value text);
create table public.posts (id serial primary key, title text);
grant select on public.posts to anon, authenticated;
create function public.count_posts() returns bigint language sql stable as $$ select count(*) from public.posts $$;
grant execute on function public.count_posts() to authenticated;
