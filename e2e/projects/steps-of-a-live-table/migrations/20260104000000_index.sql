create index if not exists orders_by_state on public.orders (state);
