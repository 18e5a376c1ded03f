create extension btree_gist schema extensions;
create table public.bookings (
  id uuid primary key default gen_random_uuid(),
  room int not null,
  during tstzrange not null,
  exclude using gist (room with =, during with &&)
);
