-- Tests also create the extension in their own transaction, by either name.
begin;
select plan(2);
drop extension "basejump-supabase_test_helpers";
create extension "basejump@supabase_test_helpers" with schema extensions;
select tests.create_supabase_user('somebody');
select tests.authenticate_as('somebody');
select is(auth.role(), null, 'the claims name no role');
select isnt(auth.uid(), null, 'but a user');
select * from finish();
rollback;
