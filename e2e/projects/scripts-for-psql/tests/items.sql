\unset ECHO
\set QUIET 1
\set ON_ERROR_ROLLBACK 1
\set ON_ERROR_STOP true
\pset format unaligned
\pset tuples_only true
\pset pager off
\set id 7
\set name 'O''Hara; -- and more'
\set column price

BEGIN;
SELECT plan(5);
\ir helpers/items.inc
SELECT is((SELECT name FROM items WHERE id = :id), :'name');
SELECT is((SELECT :"column"::text FROM items), '1.5', 'a column by its name');
SELECT is(':id'::text, E'\x3aid', 'nothing is replaced in strings');
SELECT ok('{1,2}'::int[] @> ARRAY[:id - 5], 'casts are no variables');
SELECT name AS first_name, price AS first_price FROM items LIMIT 1 \gset found_
SELECT ok(:'found_first_name' = 'O''Hara; -- and more' AND :found_first_price = 1.5, 'a row as variables');
\echo # a diagnostic
SELECT * FROM finish();
ROLLBACK;
