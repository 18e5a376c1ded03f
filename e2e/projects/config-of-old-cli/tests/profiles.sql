begin;
select plan(3);

select policies_are('public', 'profiles',
  array['Public profiles are viewable by everyone.', 'Users can insert their own profile.']);
select throws_ok($$ insert into profiles (id, username) values (gen_random_uuid(), 'ab') $$, '23514', null, 'short names');
select throws_ok($$ insert into profiles (id, username) values (gen_random_uuid(), 'abc') $$, '23503', null, 'no such user');

select * from finish();
rollback;
