create table public.hidden (id int primary key);
create table public.shown (id int primary key);
grant select on public.shown to anon, authenticated;
