create table public.messages (id int primary key, room text not null, body text not null);
alter table public.messages replica identity full;
alter publication supabase_realtime add table public.messages;
create function public.announce() returns trigger language plpgsql security definer as $$
begin
  perform realtime.broadcast_changes('room:' || new.room, tg_op, tg_op, tg_table_name, tg_table_schema, new, old);
  return null;
end
$$;
create trigger announce after insert or update on public.messages for each row execute function public.announce();
create policy "members listen" on realtime.messages for select to authenticated using (realtime.topic() like 'room:%');
