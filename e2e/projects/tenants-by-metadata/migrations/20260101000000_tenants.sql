create function public.tenant_id() returns uuid language sql stable as $$
  select nullif(auth.jwt() -> 'app_metadata' ->> 'tenant_id', '')::uuid
$$;
create table public.invoices (id int primary key, tenant uuid not null default public.tenant_id(), total numeric not null);
alter table public.invoices enable row level security;
alter table public.invoices force row level security;
create policy "of the tenant" on public.invoices for all to authenticated using (tenant = (select public.tenant_id()));
create policy "no large ones" on public.invoices as restrictive for insert to authenticated with check (total < 1000);
