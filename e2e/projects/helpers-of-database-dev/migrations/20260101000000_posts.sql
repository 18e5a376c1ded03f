-- A table whose rows belong to their authors, and a function that reads the clock.
create table public.posts (
  id uuid primary key default gen_random_uuid(),
  author_id uuid not null default auth.uid() references auth.users on delete cascade,
  title text not null,
  publish_at timestamptz not null default now()
);
alter table public.posts enable row level security;

create policy "authors do everything with their posts" on public.posts
  for all to authenticated using (author_id = auth.uid()) with check (author_id = auth.uid());
create policy "published posts are public" on public.posts
  for select to anon, authenticated using (publish_at <= now());

create function public.is_published(post public.posts) returns boolean
  language plpgsql stable
as $$
begin
  return post.publish_at <= now();
end
$$;
