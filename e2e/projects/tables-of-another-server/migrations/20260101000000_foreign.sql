create extension if not exists postgres_fdw with schema extensions;
create server elsewhere foreign data wrapper postgres_fdw options (host '127.0.0.1', port '9', dbname 'nowhere');
create user mapping for postgres server elsewhere options (user 'reader', password 'secret');
create schema elsewhere;
create foreign table elsewhere.rows (id int, title text) server elsewhere options (table_name 'rows');
