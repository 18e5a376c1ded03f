create table public.measurements (id int primary key, value double precision not null);
create materialized view public.averages as
  select id / 1000 as thousand, avg(value) as average from public.measurements group by 1;
create unique index on public.averages (thousand);
create function public.refresh_averages() returns void language sql security definer set search_path = '' as
  'refresh materialized view public.averages';
