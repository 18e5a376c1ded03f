create table public.readings (sensor text, at timestamptz, value numeric, tags text[], data jsonb);
create view public.averages as select sensor, avg(value) as average from public.readings group by sensor;
