create table public.orders (id serial primary key, total numeric not null);
create trigger notify_orders after insert on public.orders for each row
  execute function supabase_functions.http_request(
    'http://127.0.0.1:9/hook', 'POST', '{"Content-Type":"application/json"}', '{}', '1000'
  );
