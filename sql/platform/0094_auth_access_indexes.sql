-- The end of a user's access deletes what was begun for the account. Most rows have no such user, so the indexes are partial.
create index if not exists flow_state_linking_target_id_idx
  on auth.flow_state (linking_target_id) where linking_target_id is not null;
create index if not exists oauth_authorizations_user_id_idx
  on auth.oauth_authorizations (user_id) where user_id is not null;
