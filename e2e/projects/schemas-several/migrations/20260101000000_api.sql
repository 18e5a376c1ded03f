create schema api;
create schema reports;
grant usage on schema api, reports to anon, authenticated, service_role;
create table api.orders (id int primary key, total numeric not null default 0);
create view reports.totals with (security_invoker = true) as select sum(total) as total from api.orders;
alter default privileges in schema api grant all on tables to authenticated;
grant select on api.orders, reports.totals to anon;
create table api.later (id int primary key);
