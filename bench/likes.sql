-- Times the lists of the site with 50 000 likes on 5 000 outfits, in a transaction that is rolled back. On the database of
-- `make run`:
--
--   psql postgresql://postgres:postgres@127.0.0.1:54322/postgres -f bench/likes.sql

\set ON_ERROR_STOP 1
\pset footer off
begin;
-- Without the triggers of single rows, which are not what is measured.
set local session_replication_role = replica;
insert into public.combines (name, gender, item_ids, outfit_styles, colors, status, approved_at, created_at, slug, user_id)
select 'Generated ' || n, (array['men', 'women', 'unisex'])[1 + n % 3],
  array(select id from public.items order by md5(id::text || n) limit 4 + n % 4),
  array(select id from public.outfit_styles order by md5(id::text || n) limit 2),
  array(select id from public.colors order by md5(id::text || n) limit 3),
  'approved', now(), now() - n * interval '1 minute', 'generated-' || n,
  (select id from public.profiles order by md5(id::text || n) limit 1)
from generate_series(1, 5000) as n;
insert into auth.users (id, email)
select gen_random_uuid(), 'generated-' || n || '@example.test' from generate_series(1, 1000) as n;
insert into public.profiles (id, username)
select id, 'generated_' || row_number() over () from auth.users where email like 'generated-%';
insert into public.likes (user_id, combine_id)
select p.id, c.id
from (select id, row_number() over (order by id) as n from public.profiles where username like 'generated\_%') as p
cross join lateral (
  select id from public.combines where status = 'approved' order by md5(id::text || p.n) limit 50) as c;
insert into public.like_counts (combine_id, likes)
select combine_id, count(*) from public.likes where combine_id is not null group by combine_id
on conflict (combine_id) do update set likes = excluded.likes;
set local session_replication_role = origin;
analyze public.combines;
analyze public.likes;
analyze public.like_counts;
select count(*) as likes from public.likes;
select slug as outfit from public.combines where slug = 'generated-7' \gset
select id as outfit_id, item_ids[1] as item_id, user_id as creator_id from public.combines where slug = :'outfit' \gset
select brand_id from public.items where id = :'item_id' \gset
set local role anon;
\o /dev/null
-- Reads the table once, so that it is in PostgreSQL's buffers before the timing begins.
select * from public.top_outfits();
select public.page_meta('/');
\timing on
\echo the ranking of all time
select * from public.top_outfits();
\echo the ranking of a week
select * from public.top_outfits(now() - interval '7 days');
\echo the first page of the dashboard
select * from public.combines where status = 'approved' order by created_at desc, id limit 24;
\echo the same of one gender
select * from public.combines where status = 'approved' and gender = 'men' order by created_at desc, id limit 24;
\echo outfits with an item
select * from public.outfits_with_item(:'item_id') order by created_at desc, id limit 24;
\echo outfits with a brand
select * from public.outfits_with_brand(:'brand_id') order by created_at desc, id limit 24;
\echo outfits related to one
select * from public.related_outfits(:'outfit_id', 8);
\echo a head with its first rows
select public.page_meta('/');
select public.page_meta('/look/' || :'outfit');
rollback;
