begin;
select plan(2);

insert into payments values (1, '00000000-0000-4000-8000-00000000000a');
set local role authenticated;
set local "request.jwt.claims" to '{"sub": "00000000-0000-4000-8000-00000000000a", "role": "authenticated", "aal": "aal1"}';
select is_empty('select * from payments', 'one factor shows nothing');
set local "request.jwt.claims" to '{"sub": "00000000-0000-4000-8000-00000000000a", "role": "authenticated", "aal": "aal2"}';
select results_eq('select id from payments', array[1], 'two factors show the payment');

select * from finish();
rollback;
