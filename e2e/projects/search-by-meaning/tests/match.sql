begin;
select plan(5);

select has_index('public', 'documents', 'documents_by_angle', 'there is an index for angles');
select has_index('public', 'documents', 'documents_by_distance', 'there is an index for distances');
select results_eq(
  $$ select title from match_documents('[1, 0, 0]', 0.5, 10) order by embedding <=> '[1, 0, 0]' $$,
  array['Notes about linen', 'Linen in summer', 'Cotton all year'],
  'what is near comes first, and what is not is left out'
);

set local role anon;
select results_eq(
  $$ select title from match_documents('[1, 0, 0]', 0.5, 1) $$,
  array['Linen in summer'],
  'policies hold inside of the function'
);
select throws_ok(
  $$ select match_documents('[1, 0]', 0.5, 1) $$,
  '22000',
  null,
  'vectors of different sizes are not compared'
);

select * from finish();
rollback;
