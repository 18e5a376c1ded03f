create table notes (
  id bigint generated always as identity primary key,
  body text not null
);
alter publication supabase_realtime add table notes;

-- Kept outside of the database itself, so a copy has it only if it is copied as well.
alter database postgres set intervalstyle = 'iso_8601';
alter role authenticated in database postgres set statement_timeout = '7s';

create extension pg_cron;
select cron.schedule('count-notes', '0 3 * * *', 'select count(*) from notes');
