insert into public.all_items values (1, 'kept', null), (2, 'to go', null);
