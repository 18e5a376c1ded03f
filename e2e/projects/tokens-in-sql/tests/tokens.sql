begin;
select plan(3);

select is((select valid from extensions.verify(make_token('ana'), 'a secret of the project')), true, 'the token is valid');
select is((select valid from extensions.verify(make_token('ana'), 'another secret')), false, 'by its secret only');
set local role anon;
select throws_ok($$ select public.make_token('x') $$, '42501', null, 'visitors make none');

select * from finish();
rollback;
