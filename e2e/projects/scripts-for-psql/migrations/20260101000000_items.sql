create table public.items (id int primary key, name text not null, price numeric);
