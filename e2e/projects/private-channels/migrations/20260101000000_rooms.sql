create table public.room_members (room text, user_id uuid, primary key (room, user_id));
create policy "members listen" on realtime.messages for select to authenticated using (
  exists (
    select from public.room_members
    where user_id = (select auth.uid()) and room = (select realtime.topic())
      and realtime.messages.extension in ('broadcast', 'presence')
  )
);
create policy "members speak" on realtime.messages for insert to authenticated with check (
  exists (select from public.room_members where user_id = (select auth.uid()) and room = (select realtime.topic()))
);
alter publication supabase_realtime add table public.room_members;
