create table profiles (id uuid references auth.users not null primary key, updated_at timestamptz, username text unique,
  constraint username_length check (char_length(username) >= 3));
alter table profiles enable row level security;
create policy "Public profiles are viewable by everyone." on profiles for select using (true);
create policy "Users can insert their own profile." on profiles for insert with check (auth.uid() = id);
