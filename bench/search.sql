-- Times the search with 50 000 generated outfits, in a transaction that is rolled back: the best of nine runs of each, so that other work on
-- the machine is not what is measured. Each has to take at most 50 ms. On the database of `make run`:
--
--   psql postgresql://postgres:postgres@127.0.0.1:54322/postgres -f bench/search.sql

\set ON_ERROR_STOP 1
\pset footer off
begin;
-- Without the triggers of single rows, which are not what is measured.
set local session_replication_role = replica;
insert into public.combines (name, user_id, gender, item_ids, outfit_styles, colors, status, approved_at, created_at, slug)
select word.first || ' ' || word.second || ' ' || n,
  (array(select id from public.profiles where username is not null order by id))[1 + n % 8], (array['men', 'women', 'unisex'])[1 + n % 3],
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
create procedure public.best_of_nine(what text, query text) language plpgsql as $$
declare
  began timestamptz;
  best  numeric;
begin
  for run in 1..9 loop
    began := clock_timestamp();
    execute query;
    best := least(best, extract(epoch from clock_timestamp() - began) * 1000);
  end loop;
  raise notice '% ms  %', to_char(best, '9990.0'), what;
end
$$;
\set VERBOSITY terse
set local role anon;
call public.best_of_nine('a color',
  $$select * from public.search_outfits('camel', max_results => 24)$$);
call public.best_of_nine('a word of 5 000 names',
  $$select * from public.search_outfits('velvet', max_results => 24)$$);
call public.best_of_nine('the name of one outfit',
  $$select * from public.search_outfits('49999', max_results => 24)$$);
call public.best_of_nine('a word that is nowhere',
  $$select * from public.search_outfits('zzzzz', max_results => 24)$$);
call public.best_of_nine('one letter',
  $$select * from public.search_outfits('a', max_results => 24)$$);
call public.best_of_nine('two letters that are nowhere',
  $$select * from public.search_outfits('qx', max_results => 24)$$);
call public.best_of_nine('a brand',
  $$select * from public.search_outfits('halvorn', max_results => 24)$$);
call public.best_of_nine('a style, page 21',
  $$select * from public.search_outfits('minimal', max_results => 24, page_offset => 480)$$);
call public.best_of_nine('every filter',
  $$select * from public.search_outfits('', genders => '{women}', categories => '{outerwear}', brands => '{halvorn}',
  styles => '{minimal}', colors => '{camel}', min_price => 500, max_price => 1500, max_results => 24)$$);
call public.best_of_nine('a narrow range of prices',
  $$select * from public.search_outfits('', min_price => 300, max_price => 310, max_results => 24)$$);
call public.best_of_nine('a word of garments, of many outfits',
  $$select * from public.search_outfits('dress', max_results => 24)$$);
call public.best_of_nine('two words of garments',
  $$select * from public.search_outfits('blue jeans', max_results => 24)$$);
call public.best_of_nine('two words, in other forms and of no name',
  $$select * from public.search_outfits('evening dresses', max_results => 24)$$);
call public.best_of_nine('a misspelled word',
  $$select * from public.search_outfits('jeens', max_results => 24)$$);
call public.best_of_nine('a word and one that is nowhere',
  $$select * from public.search_outfits('camel zzzzz', max_results => 24)$$);
call public.best_of_nine('words of several rows',
  $$select * from public.search_outfits('camel wool coat', max_results => 24)$$);
call public.best_of_nine('a creator',
  $$select * from public.search_outfits('mira', max_results => 24)$$);
call public.best_of_nine('how many outfits and items a word finds',
  $$select * from public.count_found('coat')$$);
call public.best_of_nine('how many a misspelled word finds',
  $$select * from public.count_found('jeens')$$);
call public.best_of_nine('a word and filters',
  $$select * from public.search_outfits('velvet', genders => '{men}', colors => '{camel}', max_results => 24)$$);
call public.best_of_nine('no filter, page 1001',
  $$select * from public.search_outfits('', max_results => 24, page_offset => 24000)$$);
rollback;
