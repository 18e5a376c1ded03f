-- What strangers may do in a usual project: read some tables, write some, call functions, listen to changes, upload to their own folder.
create extension if not exists pg_net;

create table public.todos (id bigint primary key, title text, n int);
insert into public.todos select number, 'a title of usual length ' || number, number from generate_series(1, 3000) number;

create table public.notes (id bigint primary key, todo_id bigint references public.todos, body text);
insert into public.notes select number, 1, 'note ' || number from generate_series(1, 1500) number;
create index on public.notes (todo_id);

create table public.texts (id bigint generated always as identity primary key, body text, n int, document jsonb);
create table public.hooked (id bigint generated always as identity primary key, body text);
create table public.beats (id bigint generated always as identity primary key, name text);
create table public.filtered (id bigint generated always as identity primary key, body text);
alter table public.filtered replica identity full;

grant select on public.todos, public.notes, public.beats, public.filtered to anon, authenticated;
grant insert, update on public.todos, public.texts to anon, authenticated;
grant insert on public.hooked, public.beats, public.filtered to anon, authenticated;
grant select on public.texts to anon, authenticated;
grant all on all tables in schema public to service_role;

create function public.add(a int, b int) returns int language sql immutable as 'select a + b';
create function public.length_of(body text) returns int language sql immutable as 'select length(body)';
create function public.text_of(count int) returns text language sql immutable as $$ select repeat('x', count) $$;
create function public.sends_hook() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  perform net.http_post('http://127.0.0.1:SINK_PORT/hook', jsonb_build_object('record', to_jsonb(new)), timeout_milliseconds := 5000);
  return new;
end $$;
create trigger sends_hook after insert on public.hooked for each row execute function public.sends_hook();

alter publication supabase_realtime add table public.beats, public.filtered;
create policy "everybody sends and receives" on realtime.messages for all to anon, authenticated using (true) with check (true);

create policy "everybody reads" on storage.objects for select using (bucket_id in ('pictures', 'files'));
create policy "own folder, insert" on storage.objects for insert to authenticated
  with check ((storage.foldername(name))[1] = (select auth.uid()::text));
create policy "own folder, update" on storage.objects for update to authenticated
  using ((storage.foldername(name))[1] = (select auth.uid()::text));
create policy "own folder, delete" on storage.objects for delete to authenticated
  using ((storage.foldername(name))[1] = (select auth.uid()::text));
