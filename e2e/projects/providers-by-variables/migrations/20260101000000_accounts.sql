create table public.accounts (user_id uuid primary key references auth.users (id) on delete cascade, plan text default 'free');
create table public.payments (id int primary key, user_id uuid not null default auth.uid());
alter table public.payments enable row level security;
create policy own on public.payments using (user_id = auth.uid());
create policy "two factors" on public.payments as restrictive to authenticated using ((select auth.jwt() ->> 'aal') = 'aal2');
