-- Styles that a person likes: chosen among the first steps after the sign-up, they lead to outfits before any is liked.

create table public.liked_styles (
  user_id    uuid        not null default auth.uid(),
  style_id   uuid        not null,
  created_at timestamptz not null default now(),

  constraint liked_styles_pkey primary key (user_id, style_id),
  constraint liked_styles_user_id_fkey
    foreign key (user_id) references public.profiles (id) on delete cascade,
  constraint liked_styles_style_id_fkey
    foreign key (style_id) references public.outfit_styles (id) on delete cascade,
  constraint liked_styles_created_at_finite check (isfinite(created_at))
);
comment on table public.liked_styles is 'Styles of outfits that a user likes: private, one row per user and style.';
-- For the cascade from a style.
create index liked_styles_style_id_idx on public.liked_styles (style_id);

alter table public.liked_styles enable row level security;
revoke all on table public.liked_styles from anon, authenticated;
grant select, delete on table public.liked_styles to authenticated;
grant insert (user_id, style_id) on table public.liked_styles to authenticated;
grant all on table public.liked_styles to service_role;

create policy liked_styles_own on public.liked_styles
  for all to authenticated
  using (user_id = (select auth.uid()))
  with check (user_id = (select auth.uid()));
comment on policy liked_styles_own on public.liked_styles is 'What somebody likes is their own business.';
