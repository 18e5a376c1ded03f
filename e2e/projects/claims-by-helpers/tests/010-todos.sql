begin;
select plan(6);

select tests.create_user('owner');
select tests.create_user('admin', '{"role": "admin"}');
insert into todos (user_id, task) values (tests.get_user_id('owner'), 'first');

select tests.authenticate_as('owner');
select is(auth.uid(), tests.get_user_id('owner'), 'the claims are those of the owner');
select is(auth.role(), 'authenticated');
select results_eq('select task from todos', $$ values ('first') $$, 'owners see their todos');
select lives_ok($$ insert into todos (user_id, task) values (auth.uid(), 'second') $$);

reset role;
select tests.authenticate_as('admin');
select set_eq('select task from todos', array['first', 'second'], 'admins see all todos');

select tests.clear_authentication();
select is_empty('select * from todos', 'visitors see none');

select * from finish();
rollback;
