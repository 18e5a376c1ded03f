insert into public.readings values
  ('a', '2026-01-01 00:00+00', 1, '{x,y}', '{"ok": true}'), ('a', '2026-01-01 01:00+00', 3, '{}', null),
  ('b', '2026-01-01 00:00+00', 10, null, '{"ok": false}');
