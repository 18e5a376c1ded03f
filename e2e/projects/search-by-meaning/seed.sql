insert into public.documents (title, is_public, embedding) values
  ('Linen in summer', true, '[0.9, 0.1, 0]'),
  ('Cotton all year', true, '[0.7, 0.7, 0]'),
  ('Wool in winter', true, '[0, 0.1, 0.9]'),
  ('Notes about linen', false, '[0.95, 0.05, 0]');
