insert into public.accounts values (1, 100), (2, 0);
