-- The export has which mails somebody wants.

create or replace function public.export_my_data() returns jsonb
  language plpgsql
  stable
  set search_path = ''
  -- The caller's policies apply, and every list names its owner: administrators see more rows than their own.
as $$
declare
  me constant uuid := auth.uid();
begin
  if me is null then
    raise exception 'Sign in to export your data.' using errcode = 'insufficient_privilege';
  end if;
  return jsonb_build_object(
    'exported_at', now(),
    'account', jsonb_build_object('id', me, 'email', auth.jwt() ->> 'email', 'phone', auth.jwt() ->> 'phone'),
    'profile', (select to_jsonb(p) from public.profiles as p where p.id = me),
    'outfits', (
      select coalesce(jsonb_agg(to_jsonb(c) order by c.created_at, c.id), '[]')
      from public.combines as c where c.user_id = me),
    'likes', (
      select coalesce(jsonb_agg(to_jsonb(l) order by l.created_at, l.id), '[]')
      from public.likes as l where l.user_id = me),
    'bookmarks', (
      select coalesce(jsonb_agg(to_jsonb(b) order by b.created_at, b.id), '[]')
      from public.bookmarks as b where b.user_id = me),
    'follows', (
      -- Whom the user follows, and who follows the user: both are about the user.
      select coalesce(jsonb_agg(to_jsonb(f) order by f.created_at, f.follower_id, f.followed_id), '[]')
      from public.follows as f where me in (f.follower_id, f.followed_id)),
    'collections', (
      select coalesce(jsonb_agg(
        to_jsonb(c) || jsonb_build_object('outfits', (
          select coalesce(jsonb_agg(o.combine_id order by o.created_at, o.combine_id), '[]')
          from public.collected_outfits as o where o.collection_id = c.id))
        order by c.created_at, c.id), '[]')
      from public.collections as c where c.user_id = me),
    'liked_styles', (
      select coalesce(jsonb_agg(to_jsonb(s) order by s.created_at, s.style_id), '[]')
      from public.liked_styles as s where s.user_id = me),
    'mail_settings', (select to_jsonb(m) from public.mail_settings as m where m.user_id = me),
    'blocks', (
      select coalesce(jsonb_agg(to_jsonb(b) order by b.created_at, b.blocked_id), '[]')
      from public.blocks as b where b.blocker_id = me),
    'reports', (
      -- Without who has decided about them.
      select coalesce(jsonb_agg(to_jsonb(r) - 'decided_by' order by r.created_at, r.id), '[]')
      from public.reports as r where r.reporter_id = me),
    'training_images', (
      select coalesce(jsonb_agg(to_jsonb(t) order by t.image_order), '[]')
      from public.user_training_images as t where t.user_id = me),
    'notifications', (
      select coalesce(jsonb_agg(to_jsonb(n) order by n.created_at, n.id), '[]')
      from public.notifications as n where n.user_id = me),
    'generated_pictures', (
      -- The columns that their owner may read; the others say how the server works.
      select coalesce(jsonb_agg(
        jsonb_build_object(
          'id', g.id, 'combine_id', g.combine_id, 'title', g.title, 'status', g.status, 'error', g.error,
          'bucket', g.result_bucket, 'name', g.result_name, 'is_preview', g.result_is_preview,
          'created_at', g.created_at, 'finished_at', g.finished_at)
        order by g.created_at, g.id), '[]')
      from public.generated_pictures as g where g.user_id = me),
    'files', (
      select coalesce(jsonb_agg(
        jsonb_build_object('bucket', o.bucket_id, 'name', o.name) order by o.bucket_id, o.name), '[]')
      from storage.objects as o where private.is_own_object(o.bucket_id, o.name)));
end
$$;
