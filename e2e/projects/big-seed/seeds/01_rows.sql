insert into public.measurements select n, sin(n) from generate_series(1, 20000) n;
