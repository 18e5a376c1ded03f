begin;
select plan(12);

select tests.create_supabase_user('writer', 'writer@example.com', '555-0100', '{"plan": "pro"}');
select tests.create_supabase_user('reader');
select is(
  tests.get_supabase_user('writer') #>> '{raw_user_meta_data,plan}', 'pro', 'metadata of a user is kept'
);
select throws_ok(
  $$ select tests.get_supabase_uid('nobody') $$, 'P0001', 'User with identifier nobody not found'
);
select tests.rls_enabled('public');
select tests.rls_enabled('public', 'posts');

select tests.authenticate_as('writer');
select is(auth.uid(), tests.get_supabase_uid('writer'), 'the claims are those of the user');
select is(auth.jwt() #>> '{user_metadata,plan}', 'pro', 'metadata is in the claims');
insert into public.posts (title, publish_at) values ('Now', '2026-01-01'), ('Later', '2030-01-01');
select results_eq('select count(*) from public.posts', array[2::bigint], 'authors see their own drafts');

select tests.authenticate_as('reader');
select results_eq('select title from public.posts', array['Now'], 'others see what is published');
select throws_ok(
  format('insert into public.posts (author_id, title) values (%L, %L)', tests.get_supabase_uid('writer'), 'Forged'),
  '42501'
);

select tests.clear_authentication();
select is(current_user::text, 'anon', 'visitors have no user');

select tests.authenticate_as_service_role();
select tests.freeze_time('2031-01-01 00:00:00+00');
select results_eq(
  'select count(*) from public.posts where public.is_published(posts)', array[2::bigint], 'the clock can be set'
);
select tests.unfreeze_time();
select results_eq(
  'select count(*) from public.posts where public.is_published(posts)', array[1::bigint], 'and set free again'
);

select * from finish();
rollback;
