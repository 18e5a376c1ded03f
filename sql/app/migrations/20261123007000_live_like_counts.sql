-- The number of likes of an outfit, told to everybody who has the outfit open. Each outfit has a private channel,
-- `outfit-likes:<id of the outfit>`: private, because on a public one anybody could announce numbers of their own.

create function private.announce_like_count() returns trigger
  language plpgsql
  -- Security definer: whoever likes an outfit may not write broadcasts. The message has the number only, so nobody learns
  -- whose like it was.
  security definer
  set search_path = ''
as $$
begin
  perform realtime.send(
    jsonb_build_object('outfit', new.combine_id, 'likes', new.likes),
    'likes',
    'outfit-likes:' || new.combine_id,
    true
  );
  return null;
end
$$;
comment on function private.announce_like_count() is
  'After-write trigger: broadcasts the new number of likes. realtime.send never fails, so neither does the like.';

create trigger like_counts_announce
  after insert or update of likes on public.like_counts
  for each row execute function private.announce_like_count();

create policy lookbook_outfit_likes_receive on realtime.messages
  for select to anon, authenticated
  using (extension = 'broadcast' and (select realtime.topic()) like 'outfit-likes:%');
comment on policy lookbook_outfit_likes_receive on realtime.messages is
  'Everybody may hear how many likes an outfit has. Nobody sends there: no policy allows inserts.';
