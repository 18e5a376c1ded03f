-- Times the search with 50 000 generated outfits, in a transaction that is rolled back. On the database of `make run`:
--
--   psql postgresql://postgres:postgres@127.0.0.1:54322/postgres -f bench/search.sql

\set ON_ERROR_STOP 1
\pset footer off
begin;
-- Without the triggers of single rows, which are not what is measured.
set local session_replication_role = replica;
insert into public.combines (name, gender, item_ids, outfit_styles, colors, status, approved_at, created_at, slug)
select word.first || ' ' || word.second || ' ' || n, (array['men', 'women', 'unisex'])[1 + n % 3],
  array(select id from public.items order by md5(id::text || n) limit 4 + n % 4),
  array(select id from public.outfit_styles order by md5(id::text || n) limit 2),
  array(select id from public.colors order by md5(id::text || n) limit 3),
  'approved', now(), now() - n * interval '1 minute', 'generated-' || n
from generate_series(1, 50000) as n,
lateral (select
  (array['Velvet', 'Harbour', 'Quiet', 'Paper', 'Slow', 'Winter', 'Garden', 'North', 'Silver', 'Second'])[1 + n % 10],
  (array['Morning', 'Station', 'Letters', 'Stairs', 'Market', 'Window', 'Avenue', 'Ferry', 'Signal'])[1 + n % 9]
) as word (first, second);
set local session_replication_role = origin;
do $$ begin perform private.index_outfits(array(select id from public.combines where slug like 'generated-%')); end $$;
analyze private.outfit_index;
analyze public.combines;
set local role anon;
\o /dev/null
select * from public.search_outfits('camel');
\timing on
\echo a color
select * from public.search_outfits('camel', max_results => 24);
\echo a word of 5 000 names
select * from public.search_outfits('velvet', max_results => 24);
\echo the name of one outfit
select * from public.search_outfits('49999', max_results => 24);
\echo a word that is nowhere
select * from public.search_outfits('zzzzz', max_results => 24);
\echo one letter
select * from public.search_outfits('a', max_results => 24);
\echo two letters that are nowhere
select * from public.search_outfits('qx', max_results => 24);
\echo a brand
select * from public.search_outfits('halvorn', max_results => 24);
\echo a style, page 21
select * from public.search_outfits('minimal', max_results => 24, page_offset => 480);
\echo every filter
select * from public.search_outfits('', genders => '{women}', categories => '{outerwear}', brands => '{halvorn}',
  styles => '{minimal}', colors => '{camel}', min_price => 500, max_price => 1500, max_results => 24);
\echo a narrow range of prices
select * from public.search_outfits('', min_price => 300, max_price => 310, max_results => 24);
\echo a word and filters
select * from public.search_outfits('velvet', genders => '{men}', colors => '{camel}', max_results => 24);
\echo no filter, page 1001
select * from public.search_outfits('', max_results => 24, page_offset => 24000);
\timing off
rollback;
