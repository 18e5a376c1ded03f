begin;
select plan(2);

set local search_path to public, extensions;
select results_eq($$ select title from categories where path <@ 'clothes.shoes' order by path $$, array['Shoes', 'Boots']);
select is((select path from folder_paths where id = 3), 'root/inner/leaf', 'paths are built');

select * from finish();
rollback;
