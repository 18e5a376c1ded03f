-- An administrator may create a user with the id of one who was deleted, for rows that still name it. Tokens of the former user name the
-- same id, and Realtime, which asks for no session, would take them for the new user's.

alter table _selvedge.ended_users
  -- When the id was given to a new user; tokens that are older name the former one. A later ban of the new user is in `until`.
  add column renewed_at timestamptz;
