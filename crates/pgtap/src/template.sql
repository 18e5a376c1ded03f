begin;
select plan(1);

-- See https://pgtap.org/documentation.html for the assertions.
select has_table('public', 'notes', 'the table notes exists');

select * from finish();
rollback;
