create extension if not exists "uuid-ossp";
create extension if not exists pgcrypto;
create extension if not exists citext;
create table public.members (
  id uuid primary key default uuid_generate_v4(),
  mail citext unique not null,
  secret text not null default extensions.crypt('x', extensions.gen_salt('bf', 4))
);
