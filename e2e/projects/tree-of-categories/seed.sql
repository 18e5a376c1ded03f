insert into public.categories values ('clothes', 'Clothes'), ('clothes.shoes', 'Shoes'), ('clothes.shoes.boots', 'Boots');
insert into public.folders values (1, null, 'root'), (2, 1, 'inner'), (3, 2, 'leaf');
