begin;
create type public.state as enum ('new', 'paid');
create table public.orders (id int primary key, state public.state not null default 'new', note varchar(20));
commit;
