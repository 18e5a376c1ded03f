-- Collections of bookmarks: each has a name, is private, and can be shared by its link.

create table public.collections (
  id         uuid        not null default gen_random_uuid(),
  user_id    uuid        not null default auth.uid(),
  name       text        not null,
  is_shared  boolean     not null default false,
  created_at timestamptz not null default now(),

  constraint collections_pkey primary key (id),
  -- For the reference that ties an outfit of a collection to a bookmark of its owner.
  constraint collections_id_user_id_key unique (id, user_id),
  constraint collections_user_id_fkey
    foreign key (user_id) references public.profiles (id) on delete cascade,
  constraint collections_name_length check (char_length(btrim(name)) between 1 and 80),
  constraint collections_created_at_finite check (isfinite(created_at))
);
comment on table public.collections is
  'Named collections of a user''s bookmarks. Private; whoever knows the id of a shared one reads it by shared_collection.';
create unique index collections_user_id_name_key on public.collections (user_id, lower(btrim(name)));

create table public.collected_outfits (
  collection_id uuid        not null,
  user_id       uuid        not null default auth.uid(),
  combine_id    uuid        not null,
  created_at    timestamptz not null default now(),

  constraint collected_outfits_pkey primary key (collection_id, combine_id),
  constraint collected_outfits_collection_id_user_id_fkey
    foreign key (collection_id, user_id) references public.collections (id, user_id) on delete cascade,
  -- An outfit leaves the collections with its bookmark.
  constraint collected_outfits_user_id_combine_id_fkey
    foreign key (user_id, combine_id) references public.bookmarks (user_id, combine_id) on delete cascade,
  constraint collected_outfits_created_at_finite check (isfinite(created_at))
);
comment on table public.collected_outfits is
  'Which bookmarks of a user are in which of their collections.';
-- For the cascade from a bookmark.
create index collected_outfits_user_id_combine_id_idx on public.collected_outfits (user_id, combine_id);

alter table public.collections enable row level security;
revoke all on table public.collections from anon, authenticated;
grant select, delete on table public.collections to authenticated;
grant insert (id, user_id, name, is_shared), update (name, is_shared) on table public.collections to authenticated;
grant all on table public.collections to service_role;

create policy collections_own on public.collections
  for all to authenticated
  using (user_id = (select auth.uid()))
  with check (user_id = (select auth.uid()));
comment on policy collections_own on public.collections is
  'Its owner alone. Nobody lists the shared ones of others: who has the link asks for that one.';

alter table public.collected_outfits enable row level security;
revoke all on table public.collected_outfits from anon, authenticated;
grant select, delete on table public.collected_outfits to authenticated;
grant insert (collection_id, user_id, combine_id) on table public.collected_outfits to authenticated;
grant all on table public.collected_outfits to service_role;

create policy collected_outfits_own on public.collected_outfits
  for all to authenticated
  using (user_id = (select auth.uid()))
  with check (user_id = (select auth.uid()));
comment on policy collected_outfits_own on public.collected_outfits is
  'Own bookmarks in own collections: the references say that both are the user''s.';

create function private.limit_collections() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  -- Insertions of one person wait for each other, because they could otherwise pass the limit together.
  perform from public.profiles as p where p.id = new.user_id for no key update;
  if (select count(*) from public.collections as c where c.user_id = new.user_id) > 100 then
    raise exception 'You have 100 collections. Delete one first.'
      using errcode = 'check_violation', constraint = 'collections_limit', schema = 'public', table = 'collections';
  end if;
  return null;
end
$$;
comment on function private.limit_collections() is 'After-insert trigger: at most 100 collections for each person.';
revoke execute on function private.limit_collections() from public;

-- After the policy has refused a collection in somebody else's name.
create trigger collections_limit
  after insert on public.collections
  for each row when (new.user_id = auth.uid())
  execute function private.limit_collections();

create function private.readable_collection(collection_id uuid) returns public.collections
  language sql
  stable
  set search_path = ''
as $$
  select c from public.collections as c
  where c.id = collection_id and (c.is_shared or c.user_id = auth.uid())
$$;
comment on function private.readable_collection(uuid) is
  'The collection where it is shared or the caller''s own; null otherwise. For functions that run as their owner.';
revoke execute on function private.readable_collection(uuid) from public;

create function public.shared_collection(collection_id uuid)
  returns table (id uuid, name text, username text, full_name text, is_own boolean)
  language sql
  stable
  -- Definer: the policy shows nobody the collections of others, and the id is what the link gives.
  security definer
  set search_path = ''
as $$
  select c.id, c.name, p.username, p.full_name, coalesce(c.user_id = auth.uid(), false)
  from private.readable_collection(collection_id) as c
  join public.profiles as p on p.id = c.user_id
$$;
comment on function public.shared_collection(uuid) is
  'A collection that is shared, or the caller''s own, with the name of its owner.';

create function public.shared_collection_outfits(collection_id uuid, page_offset int default 0, max_results int default 24)
  returns setof public.combines
  language sql
  stable
  -- Definer, as shared_collection; states the public policy itself.
  security definer
  set search_path = ''
as $$
  select shown.*
  from private.readable_collection(collection_id) as c
  join public.collected_outfits as o on o.collection_id = c.id
  join public.combines as outfit on outfit.id = o.combine_id and outfit.status = 'approved'
  cross join lateral private.without_reviewer(outfit) as shown
  order by o.created_at desc, o.combine_id
  offset greatest(page_offset, 0)
  limit least(greatest(max_results, 0), 100)
$$;
comment on function public.shared_collection_outfits(uuid, int, int) is
  'Approved outfits of a collection that is shared, or the caller''s own, the latest first.';
