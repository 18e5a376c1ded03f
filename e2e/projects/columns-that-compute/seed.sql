insert into public.lines (price, quantity, tags) values (2.5, 4, '{new,blue}'), (9, 1, '{}');
