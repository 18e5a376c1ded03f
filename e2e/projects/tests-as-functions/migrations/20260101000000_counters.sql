create table public.counters (name text primary key, value int not null default 0);
create function public.bump(counter text) returns int language sql as $$
  insert into public.counters values (counter, 1)
    on conflict (name) do update set value = counters.value + 1 returning value
$$;
