begin;
select plan(3);

select results_eq($$ select title from find_books('tailor') $$, array['The Tailors of Lyon'], 'words are stemmed');
select ok(extensions.similarity('sewing', 'sewng') > 0.3, 'misspelt words are similar');
select is(extensions.unaccent('Café'), 'Cafe', 'accents are dropped');

select * from finish();
rollback;
