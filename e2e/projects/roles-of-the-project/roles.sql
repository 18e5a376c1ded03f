create role editor;
create role reporter with nologin noinherit;
alter role authenticated set statement_timeout = '10s';
