create domain public.amount as numeric(10, 2) check (value >= 0);
create table public.lines (
  id bigint generated always as identity (start with 100) primary key,
  price public.amount not null,
  quantity int not null default 1,
  total public.amount generated always as (price * quantity) stored,
  tags text[] not null default '{}',
  size int4range,
  place point
);
create function public.label(line public.lines) returns text language sql stable as $$ select line.quantity || ' pieces' $$;
create function public.cheapest() returns setof public.lines rows 1 language sql stable as
  'select * from public.lines order by price limit 1';
