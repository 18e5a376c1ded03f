begin;
create extension if not exists dblink with schema extensions;
create extension postgres_fdw;
select plan(9);

select has_extension('extensions', 'moddatetime', 'created by the migration');
select has_extension('extensions', 'pg_trgm', 'created in a block');
select has_extension('extensions', 'dblink', 'created by the test');
select extensions_are('public', array['postgres_fdw']);
select has_index('public', 'articles', 'articles_title', 'title', 'for the search');
select lives_ok($$ create server elsewhere foreign data wrapper postgres_fdw options (host 'example.com') $$);

insert into articles (title) values ('Hello');
update articles set title = 'Hello, world';
select isnt((select updated_at from articles), '2000-01-01'::timestamptz, 'the trigger of the extension ran');
select ok((select title % 'hello wrld' from articles), 'similar');
select lives_ok($$ drop extension dblink; alter extension pg_trgm update $$, 'postgres owns them');

select * from finish();
rollback;
