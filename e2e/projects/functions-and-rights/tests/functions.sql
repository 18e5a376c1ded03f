begin;
select plan(12);

select has_function('public', 'vote', array['text']);
select function_returns('public', 'vote', array['text'], 'bigint');
select function_lang_is('public', 'vote', array['text'], 'plpgsql');
select is_definer('public', 'vote', array['text']::name[]);
select isnt_definer('public', 'search_votes', array['text']::name[]);
select volatility_is('public', 'search_votes', array['text'], 'stable');
select is_procedure('public', 'clear_votes', array[]::name[]);
select function_privs_are('public', 'vote', array['text'], 'anon', array[]::text[]);

set local role authenticated;
select throws_ok($$ select vote('a') $$, '42501', 'sign in to vote');
select set_config('request.jwt.claims', '{"sub": "00000000-0000-4000-8000-00000000000a"}', true);
select is(vote('a'), 1::bigint);
select is(vote('b'), 1::bigint, 'a second vote replaces the first');
select is_empty('select * from votes', 'votes are secret');
reset role;

select * from finish();
rollback;
