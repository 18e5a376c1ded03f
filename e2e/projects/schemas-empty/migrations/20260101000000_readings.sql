create table public.readings (id int primary key, value numeric);
insert into public.readings values (1, 20.5);
